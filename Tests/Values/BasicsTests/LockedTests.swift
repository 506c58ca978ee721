import SQBasics
import Testing

@Suite struct LockedTests {
  /// An object that reads a value in its deinit.
  private final class Reader: Sendable {
    let place: Place
    init(_ place: Place) { self.place = place }
    deinit { place.number.withLock { $0 += place.reader.withLock { $0 == nil ? 1 : 2 } } }
  }

  private final class Place: Sendable {
    let reader = Locked<Reader?>(nil)
    let number = Locked(0)
  }

  @Test func `an object that a change removes is released after the lock`() {
    let place = Place()
    place.reader.change { $0 = Reader(place) }
    #expect(place.reader.change { $0 != nil })
    place.reader.change { $0 = nil }
    #expect(place.number.withLock(\.self) == 1)
  }
}
