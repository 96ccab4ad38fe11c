function [y0, t_initial, t_final, incr, rtol, atol]=initials()
t_initial=0; t_final=10; incr=0.01;
th=[0.1; 0.2; 0.05];
dth=[0; 0; 0];
rtol=1e-5;
