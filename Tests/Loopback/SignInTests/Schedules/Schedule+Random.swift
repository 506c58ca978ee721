@testable import LoopbackSupport
@testable import TestSupport

extension Schedule {
  init(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    self.seed = seed
    rotates = Int.random(in: 0..<4, using: &random) > 0
    lifetime = [5, 60, 600, 3600, 86_400].randomElement(using: &random) ?? 3600
    var steps: [Step] = [.timer(Bool.random(using: &random))]
    for _ in 0..<Int.random(in: 8...24, using: &random) {
      steps.append(Self.step(rotates, Double(lifetime), &random))
    }
    self.steps = steps
    ending = Self.one(Ending.self, &random)
  }

  private static func one<Case: CaseIterable>(
    _ type: Case.Type, _ random: inout SeededGenerator
  ) -> Case where Case.AllCases == [Case] {
    let cases = Case.allCases
    return cases[Int.random(in: 0..<cases.count, using: &random)]
  }

  private static func step(
    _ rotates: Bool, _ lifetime: Double, _ random: inout SeededGenerator
  ) -> Step {
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<28:
      let count = [1, 1, 2, 3, 8].randomElement(using: &random) ?? 1
      return .call(one(Call.self, &random), count)
    case 28..<33: return .cancel(Int.random(in: 1...4, using: &random))
    case 33..<35: return .invalidate
    case 35..<47:
      let fitting = Trouble.allCases.filter { $0.isForServersThatRotate || !rotates }
      let trouble = fitting[Int.random(in: 0..<fitting.count, using: &random)]
      return .trouble(trouble, times: Int.random(in: 1...2, using: &random))
    case 47..<49: return .refusal(Int.random(in: 1...3, using: &random))
    case 49..<53: return .stall
    case 53..<55: return .release
    case 55..<57: return .expire
    case 57..<66:
      let spans = [0.5, 1, 3, 61, lifetime / 2, lifetime * 0.93, lifetime, lifetime * 2, 100_000]
      return .pass(spans.randomElement(using: &random) ?? 1)
    case 66..<71:
      let spans = [-100_000, -7200, -120, -30, -1, 1, 30, 120, 7200, lifetime, 1e9, -1e9]
      return .jump(spans.randomElement(using: &random) ?? 1)
    case 71..<73: return .timer(Bool.random(using: &random))
    case 73..<79:
      return Bool.random(using: &random) ? .store(.works) : .store(one(Store.self, &random))
    case 79..<83: return .signIn(one(User.self, &random))
    case 83..<85: return .signInAndOut(one(User.self, &random))
    case 85..<87: return .signOut
    case 87..<90: return .flush
    case 90..<93: return .yield(Int.random(in: 1...50, using: &random))
    case 93..<95: return .launch(one(Kept.self, &random))
    default: return .elsewhere(one(Elsewhere.self, &random))
    }
  }
}
