import Foundation
import SQBasics
import Testing

@testable import SequencingOAuth

/// How a streamed body is handed over, in orders that a network seldom produces.
@Suite(.timeLimit(.minutes(3))) struct HTTPUploadQueueTests {
  /// Takes the available bytes, or returns `nil` if there are none.
  private static func take(_ queue: UploadQueue) throws -> [UInt8]? {
    var room = [UInt8](repeating: 0, count: 2)
    switch room.withUnsafeMutableBytes({ queue.fill($0) }) {
    case .bytes(let count): return Array(room.prefix(count))
    case .wait: return nil
    case .failed(let error): throw error
    }
  }

  /// Returns a queue whose chunks are single bytes that count up from 0, and a counter of the
  /// requests for chunks.
  private func counting(to end: UInt8) -> (queue: UploadQueue, asked: Counter) {
    let asked = Counter()
    let queue = UploadQueue(length: nil) {
      {
        let next = asked.next()
        return next < end ? Data([UInt8(next)]) : nil
      }
    }
    return (queue, asked)
  }

  private final class Counter: Sendable {
    let count = Locked(0)

    func next() -> Int {
      count.withLock { count in
        defer { count += 1 }
        return count
      }
    }
  }

  @Test func `asking twice for one chunk loses no chunk`() async throws {
    let (queue, asked) = counting(to: 100)
    let all = Locked<[UInt8]>([])
    #expect(try Self.take(queue) == nil)
    #expect(try Self.take(queue) == nil)
    await queue.produce {
      while let bytes = try? Self.take(queue) {
        all.withLock { $0 += bytes }
        if bytes.isEmpty { return queue.close() }
      }
      // All bytes have been read, and the reader asks once more.
      _ = try? Self.take(queue)
    }
    #expect(all.withLock { $0 } == Array(0..<100))
    #expect(asked.count.withLock { $0 } == 101)
  }

  @Test func `asking while a chunk is produced does not produce a second one`() async throws {
    let gate = AsyncStream.makeStream(of: Void.self)
    let began = AsyncStream.makeStream(of: Void.self)
    let asked = Counter()
    let queue = UploadQueue(length: nil) {
      {
        let index = asked.next()
        began.continuation.yield()
        for await _ in gate.stream { break }
        return Data([UInt8(index)])
      }
    }
    let available = AsyncStream.makeStream(of: Void.self)
    let producer = Task { await queue.produce { available.continuation.yield() } }
    #expect(try Self.take(queue) == nil)
    for await _ in began.stream { break }
    // The producer is already making a chunk, so this call must not start another one.
    #expect(try Self.take(queue) == nil)
    gate.continuation.yield()
    for await _ in available.stream { break }
    gate.continuation.yield()
    #expect(asked.count.withLock { $0 } == 1)
    #expect(try Self.take(queue) == [0])
    queue.close()
    await producer.value
    #expect(asked.count.withLock { $0 } == 1)
  }

  private struct Unreadable: Error {}

  private final class Queue: Sendable {
    let value = Locked<UploadQueue?>(nil)
  }

  /// libcurl restarts a body if the server closes the connection before the response.
  @Test(arguments: [true, false])
  func `an error of an abandoned upload attempt does not end the next attempt`(isLate: Bool)
    async throws
  {
    let attempts = Counter()
    let queueOfBody = Queue()
    let queue = UploadQueue(length: nil) {
      let isFirst = attempts.next() == 0
      let chunks = Counter()
      return {
        if isFirst {
          // The restart comes while the chunk is made.
          if isLate { queueOfBody.value.withLock { $0 }?.rewind() }
          throw Unreadable()
        }
        return chunks.next() == 0 ? Data([7]) : nil
      }
    }
    queueOfBody.value.withLock { $0 = queue }
    let all = Locked<[UInt8]>([])
    let restarts = Counter()
    #expect(try Self.take(queue) == nil)
    await queue.produce {
      do {
        while let bytes = try Self.take(queue) {
          all.withLock { $0 += bytes }
          if bytes.isEmpty { return queue.close() }
        }
      } catch {
        guard restarts.next() == 0 else { return queue.close() }
        queue.rewind()
        _ = try? Self.take(queue)
      }
    }
    #expect(all.withLock { $0 } == [7])
    #expect(attempts.count.withLock { $0 } == 2)
  }
}
