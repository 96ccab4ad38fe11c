// Inverse and forward dynamics of many samples by Pinocchio in C++: seconds a sample, and the results.
//
// pinocchio_peer MODEL SAMPLES RESULTS COUNT ROUNDS: the model is text (see cpp.py), the samples are rows of q, v and x.

#include <pinocchio/multibody.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/rnea.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
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
  const int count = std::atoi(given[4]), rounds = std::atoi(given[5]), width = model.nq + 2 * model.nv;
  std::vector<double> samples(size_t(count) * width);
  std::ifstream(given[2], std::ios::binary).read(reinterpret_cast<char *>(samples.data()), samples.size() * 8);
  std::ofstream results(given[3], std::ios::binary);
  for (int forward = 0; forward < 2; ++forward) {
    Eigen::MatrixXd found(model.nv, count);
    double least = 1e9;
    for (int round = 0; round < rounds; ++round) {
      const double begun = now();
      for (int n = 0; n < count; ++n) {
        const double * row = samples.data() + size_t(n) * width;
        const Eigen::Map<const Eigen::VectorXd> q(row, model.nq), v(row + model.nq, model.nv), x(row + model.nq + model.nv, model.nv);
        if (forward)
          found.col(n) = pin::aba(model, data, q, v, x);
        else
          found.col(n) = pin::rnea(model, data, q, v, x);
      }
      least = std::min(least, (now() - begun) / count);
    }
    results.write(reinterpret_cast<const char *>(found.data()), found.size() * 8);
    std::printf("%.12g\n", least);
  }
}
