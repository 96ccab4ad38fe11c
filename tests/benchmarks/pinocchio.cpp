// Quantities of many samples by Pinocchio in C++: seconds a sample, and the results.
//
// pinocchio_peer MODEL SAMPLES RESULTS COUNT ROUNDS QUANTITY...: the model is text (see cpp.py), the samples are rows of
// q, v and x; results are those of the quantities one after the other, each sample by sample.

#include <pinocchio/multibody.hpp>
#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/energy.hpp>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/kinematics.hpp>
#include <pinocchio/algorithm/rnea.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace pin = pinocchio;

static double now()
{
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

static pin::JointModel joint(const std::string & name)
{
  if (name == "RX") return pin::JointModelRX();
  if (name == "RY") return pin::JointModelRY();
  if (name == "RZ") return pin::JointModelRZ();
  if (name == "PX") return pin::JointModelPX();
  if (name == "PY") return pin::JointModelPY();
  if (name == "PZ") return pin::JointModelPZ();
  if (name == "FreeFlyer") return pin::JointModelFreeFlyer();
  std::fprintf(stderr, "no joint %s\n", name.c_str());
  std::exit(2);
}

int main(int, char ** given)
{
  std::ifstream text(given[1]);
  pin::Model model;
  int joints;
  Eigen::Vector3d g;
  text >> joints >> g[0] >> g[1] >> g[2];
  model.gravity.linear() = g;
  for (int k = 0; k < joints; ++k) {
    std::string kind;
    int parent;
    double m;
    Eigen::Matrix3d R, I;
    Eigen::Vector3d p, c;
    text >> kind >> parent;
    for (int r = 0; r < 9; ++r) text >> R(r / 3, r % 3);
    text >> p[0] >> p[1] >> p[2] >> m >> c[0] >> c[1] >> c[2];
    for (int r = 0; r < 9; ++r) text >> I(r / 3, r % 3);
    const auto id = model.addJoint(parent, joint(kind), pin::SE3(R, p), "joint" + std::to_string(k));
    model.appendBodyToJoint(id, pin::Inertia(m, c, I), pin::SE3::Identity());
  }
  pin::Data data(model);
  const int nv = model.nv, last = model.njoints - 1;
  const int count = std::atoi(given[4]), rounds = std::atoi(given[5]), width = model.nq + 2 * nv;
  std::vector<double> samples(size_t(count) * width);
  std::ifstream(given[2], std::ios::binary).read(reinterpret_cast<char *>(samples.data()), samples.size() * 8);
  std::ofstream results(given[3], std::ios::binary);

  using Given = Eigen::Map<const Eigen::VectorXd>;
  using Vector = Eigen::Map<Eigen::VectorXd>;
  using Matrix = Eigen::Map<Eigen::MatrixXd>;
  struct Quantity
  {
    int width;
    std::function<void(const Given &, const Given &, const Given &, double *)> found;
  };
  const std::map<std::string, Quantity> quantities = {
    {"inverse", {nv, [&](auto & q, auto & v, auto & x, double * to) { Vector(to, nv) = pin::rnea(model, data, q, v, x); }}},
    {"forward", {nv, [&](auto & q, auto & v, auto & x, double * to) { Vector(to, nv) = pin::aba(model, data, q, v, x); }}},
    {"derivatives", {3 * nv * nv, [&](auto & q, auto & v, auto & x, double * to) {
       pin::computeABADerivatives(model, data, q, v, x);
       Matrix(to, nv, nv) = data.ddq_dq;
       Matrix(to + nv * nv, nv, nv) = data.ddq_dv;
       Matrix(to + 2 * nv * nv, nv, nv) = data.Minv;
     }}},
    {"inertia", {nv * nv, [&](auto & q, auto &, auto &, double * to) { Matrix(to, nv, nv) = pin::crba(model, data, q); }}},
    {"energy", {2, [&](auto & q, auto & v, auto &, double * to) {
       to[0] = pin::computeKineticEnergy(model, data, q, v);
       to[1] = pin::computePotentialEnergy(model, data, q);
     }}},
    {"frames", {12 * last, [&](auto & q, auto &, auto &, double * to) {
       pin::forwardKinematics(model, data, q);
       for (int k = 1; k <= last; ++k, to += 12) {
         Matrix(to, 3, 3) = data.oMi[k].rotation();
         Vector(to + 9, 3) = data.oMi[k].translation();
       }
     }}},
    {"jacobian", {6 * nv, [&](auto & q, auto &, auto &, double * to) {
       Eigen::Map<Eigen::Matrix<double, 6, Eigen::Dynamic>> J(to, 6, nv);
       J.setZero();
       pin::computeJointJacobian(model, data, q, last, J);
     }}},
  };
  for (char ** name = given + 6; *name; ++name) {
    const Quantity & quantity = quantities.at(*name);
    std::vector<double> found(size_t(count) * quantity.width);
    double least = 1e9;
    for (int round = 0; round < rounds; ++round) {
      const double begun = now();
      for (int n = 0; n < count; ++n) {
        const double * row = samples.data() + size_t(n) * width;
        const Given q(row, model.nq), v(row + model.nq, nv), x(row + model.nq + nv, nv);
        quantity.found(q, v, x, found.data() + size_t(n) * quantity.width);
      }
      least = std::min(least, (now() - begun) / count);
    }
    results.write(reinterpret_cast<const char *>(found.data()), found.size() * 8);
    std::printf("%.12g\n", least);
  }
}
