import Testing

@testable import SQBasics

@Suite(.timeLimit(.minutes(1))) struct OneShotTests {
  @Test func `the first of several values is returned to all earlier and later waiters`() async {
    let shot = OneShot<Int>()
    #expect(shot.current == nil)
    let values = await withTaskGroup(of: Int?.self) { group in
      for _ in 0..<50 { group.addTask { await shot.value() } }
      let wins = await withTaskGroup(of: Bool.self) { resolvers in
        for value in 1...20 { resolvers.addTask { shot.resolve(value) } }
        return await resolvers.reduce(into: []) { $0.append($1) }
      }
      #expect(wins.count { $0 } == 1)
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(Set(values) == [shot.current])
    #expect(await shot.value() == shot.current)
    #expect(!shot.resolve(99))
  }

  @Test func `a cancelled waiter gets nil, and the other waiters keep waiting`() async {
    for _ in 0..<200 {
      let shot = OneShot<Int>()
      let staying = Task { await shot.value() }
      let leaving = Task { await shot.value() }
      leaving.cancel()
      #expect(await leaving.value == nil)
      shot.resolve(1)
      #expect(await staying.value == 1)
    }
  }

  @Test func `a wait with a deadline returns a value that arrives in time, and otherwise nil`()
    async
  {
    let shot = OneShot<Int>()
    #expect(await shot.wait(until: .now) == nil)
    let cancelled = Task { await shot.wait(until: .now + .seconds(3600)) }
    cancelled.cancel()
    #expect(await cancelled.value == nil)
    let waiting = Task { await shot.wait(until: .now + .seconds(3600)) }
    shot.resolve(1)
    #expect(await waiting.value == 1)
    #expect(await shot.wait(until: .now) == 1)
  }

  @Test func `a wait that ignores cancellation returns the value although its task is cancelled`()
    async
  {
    for count in 0..<2000 {
      let shot = OneShot<Int>()
      let waiter = Task { await shot.wait() }
      waiter.cancel()
      async let resolving = shot.resolve(count)
      #expect(await waiter.value == count)
      _ = await resolving
      #expect(await shot.wait() == count)
    }
  }

  @Test func `a wait that is cancelled and resolved at the same time ends exactly once`() async {
    for _ in 0..<500 {
      let shot = OneShot<Int>()
      let waiter = Task { await shot.value() }
      async let cancelling: Void = waiter.cancel()
      async let resolving = shot.resolve(1)
      _ = await (cancelling, resolving)
      let value = await waiter.value
      #expect(value == nil || value == 1)
    }
  }
}
