% a tree of three links, written as ReDySim's examples are
function [n dof type alp a b th bt r dx dy dz m g Icxx Icyy Iczz Icxy Icyz Iczx aj al]=inputs()
n=3; dof=3; type=0;
al=[0.4, 0.3; 0.2 -0.1];   % lengths, in a matrix with commas and blanks
al(3,1)=al(1,1)/2;
alp=[0; pi/2; -90*pi/180];
a=[0; al(1); al(1, 2)];
b=[0.1; 0; ...
   -al(2,2)*2];
th=[0.3; 0.4; 0];
r=[1; 1; 0];  bt=[0 1 1]';
aj=ones(n,1);
dx=[al(1)/2; 0.1; 0]; dy=zeros(n,1); dz=[0; 0.02; sqrt(0.01)];
m=[3; 2^2; 0.5]; g=[0; -9.81; 0];
Icxx=zeros(n,1); Icyy=zeros(n,1); Iczz=zeros(n,1); Icxy=zeros(n,1); Icyz=zeros(n,1); Iczx=zeros(n,1);
for i=1:n
  disp(i)
end
Icxx(1)=(1/12)*m(1)*.01*.01; Icyy(1)=(1/12)*m(1)*al(1)*al(1); Iczz(1)=Icyy(1);
Icxx(2)=0.02; Icyy(2)=0.03; Iczz(2)=0.04; Icxy(2)=1e-3; Iczx(2)=-2e-3;
Icxx(3)=0.001; Icyy(3)=0.001; Iczz(3)=0.0015;
end
