import Testing

@testable import SequencingOAuth

/// The streams of a session's events, for slow and fast readers.
@Suite(.timeLimit(.minutes(1))) struct EventObserversTests {
  @Test func `a slow reader gets the newest events`() async {
    let observers = EventObservers<Int>()
    let slow = observers.stream(atMost: 100)
    for number in 1...1000 { observers.tell(number) }
    observers.finish()
    var seen: [Int] = []
    for await number in slow { seen.append(number) }
    #expect(seen == Array(901...1000))
  }

  @Test func `a fast reader gets all events`() async {
    let observers = EventObservers<Int>()
    var reader = observers.stream(atMost: 1).makeAsyncIterator()
    for number in 1...1000 {
      observers.tell(number)
      #expect(await reader.next() == number)
    }
  }

  @Test func `a stream that is created after the last event ends at once`() async {
    let observers = EventObservers<Int>()
    observers.finish()
    var late = observers.stream(atMost: 1).makeAsyncIterator()
    #expect(await late.next() == nil)
  }
}
