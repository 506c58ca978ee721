/// A queue of values with due times, ordered by time in a binary heap.
///
/// A change takes time that grows with the logarithm of the number of values.
package struct TimerQueue<ID: Hashable, Value> {
  private struct Timer {
    var time: UInt64
    let id: ID
    var value: Value
  }

  private var heap: [Timer] = []
  private var indexes: [ID: Int] = [:]

  package init() {}

  /// The earliest time at which a value is due; ``Monotonic/never`` if there is no value.
  package var next: UInt64 { heap.first?.time ?? Monotonic.never }

  package var isEmpty: Bool { heap.isEmpty }

  /// The values, in no particular order.
  var values: [Value] { heap.map(\.value) }

  /// Schedules a value for a time, in place of the id's earlier time; ``Monotonic/never`` removes
  /// the value.
  package mutating func set(_ value: Value, id: ID, at time: UInt64) {
    if let index = indexes[id] {
      if time == Monotonic.never { return remove(at: index) }
      heap[index].value = value
      guard heap[index].time != time else { return }
      heap[index].time = time
      restoreOrder(at: index)
    } else if time != Monotonic.never {
      indexes[id] = heap.count
      heap.append(Timer(time: time, id: id, value: value))
      restoreOrder(at: heap.count - 1)
    }
  }

  package mutating func remove(_ id: ID) {
    if let index = indexes[id] { remove(at: index) }
  }

  /// Removes and returns the value that is due first, or `nil` if no value is due at `now`.
  package mutating func takeDue(at now: UInt64) -> Value? {
    guard let first = heap.first, first.time <= now else { return nil }
    remove(at: 0)
    return first.value
  }

  private mutating func remove(at index: Int) {
    let last = heap.count - 1
    swap(index, last)
    indexes[heap.removeLast().id] = nil
    if index < last { restoreOrder(at: index) }
  }

  private mutating func restoreOrder(at index: Int) {
    var index = index
    while index > 0, heap[index].time < heap[(index - 1) / 2].time {
      swap(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
    while true {
      let children = (2 * index + 1..<min(2 * index + 3, max(heap.count, 2 * index + 1)))
      let first = children.min { heap[$0].time < heap[$1].time }
      guard let first, heap[first].time < heap[index].time else { return }
      swap(index, first)
      index = first
    }
  }

  private mutating func swap(_ one: Int, _ other: Int) {
    heap.swapAt(one, other)
    indexes[heap[one].id] = one
    indexes[heap[other].id] = other
  }
}
