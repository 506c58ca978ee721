import Testing

@testable import SQBasics

@Suite struct LazyObjectTests {
  private final class Counted: Sendable {
    let number: Int

    init(_ made: borrowing Locked<Int>) {
      number = made.withLock { made in
        made += 1
        return made
      }
    }
  }

  private final class Owner: Sendable {
    let made = Locked(0)
    let object = LazyObject<Counted>()
  }

  @Test func `an object is made at its first use, and only then`() {
    let owner = Owner()
    #expect(owner.made.withLock { $0 } == 0)
    let first = owner.object.get(orMake: Counted(owner.made))
    #expect(owner.object.get(orMake: Counted(owner.made)) === first)
    #expect(owner.made.withLock { $0 } == 1)
  }

  @Test func `all threads get the same object`() async {
    for _ in 0..<200 {
      let owner = Owner()
      let numbers = await withTaskGroup { group in
        for _ in 0..<8 { group.addTask { owner.object.get(orMake: Counted(owner.made)).number } }
        return await group.reduce(into: Set()) { $0.insert($1) }
      }
      #expect(numbers.count == 1)
    }
  }
}
