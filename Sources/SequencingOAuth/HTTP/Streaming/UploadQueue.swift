import SQBasics
import SQFiles
import SQFoundation

/// A queue for a request's body, between the async code that makes it and libcurl, which sends it.
///
/// The queue holds at most one chunk, and asks for the next one when libcurl has taken the last
/// byte of the current one.
final class UploadQueue: Sendable {
  typealias MakeChunks = @Sendable () throws -> @Sendable () async throws -> Data?

  /// The result of libcurl's request for bytes.
  enum Fill {
    /// The number of bytes that were copied; 0 at the end of the body.
    case bytes(Int)
    /// No chunk is ready yet.
    case wait
    case failed(SQOAuthError)
  }

  private struct State {
    var chunk = Data()
    var sent: Int64 = 0
    var isEnded = false
    var isWanted = false
    /// The number of the attempt to send the body for which a chunk is being made; `nil` if none
    /// is.
    ///
    /// libcurl may ask again before the chunk is ready; that must not start a second chunk.
    var making: Int?
    var isClosed = false
    var error: (any Error)?
    /// Whether the server has responded and reads no more of the body.
    var isAnswered = false
    /// The number of times that the body was restarted.
    ///
    /// A chunk for an earlier attempt is dropped.
    var attempt = 0
    var producer: CheckedContinuation<Int?, Never>?
  }

  /// The announced length, in bytes; `nil` if unknown.
  let length: Int64?
  private let makeChunks: MakeChunks
  private let state = Locked(State())

  init(length: Int64?, makeChunks: @escaping MakeChunks) {
    self.length = length
    self.makeChunks = makeChunks
  }

  var sent: Int64 { state.withLock { $0.sent } }

  // MARK: libcurl's side

  func fill(_ room: UnsafeMutableRawBufferPointer) -> Fill {
    let (fill, producer) = state.withLock { state -> (Fill, Demand?) in
      if state.isAnswered { return (.bytes(0), nil) }
      if let error = state.error { return (.failed(Self.wrap(error)), nil) }
      if !state.chunk.isEmpty { return (take(&state, room), nil) }
      if state.isEnded { return (end(state), nil) }
      if state.making == state.attempt { return (.wait, nil) }
      // If the producer is waiting, it is resumed now; otherwise it sees `isWanted` later.
      let demand = Demand(state.producer.take(), state.attempt)
      if demand == nil { state.isWanted = true } else { state.making = state.attempt }
      return (.wait, demand)
    }
    producer?.resume()
    return fill
  }

  func rewind() {
    state.withLock {
      $0.chunk = Data()
      $0.sent = 0
      $0.isEnded = false
      $0.isWanted = false
      $0.error = nil
      $0.attempt += 1
    }
  }

  /// Ends the body early, because the server has responded without reading the rest.
  func endAnswered() {
    state.withLock { $0.isAnswered = true }
  }

  /// Ends the producer's wait, because no further chunk is needed.
  func close() {
    let producer = state.withLock { state in
      state.isClosed = true
      return state.producer.take()
    }
    producer?.resume(returning: nil)
  }

  private func take(_ state: inout State, _ room: UnsafeMutableRawBufferPointer) -> Fill {
    let piece = state.chunk.prefix(room.count)
    piece.copyBytes(to: room)
    // Releases a chunk that is used up, so that the producer can reuse its memory.
    state.chunk = piece.count == state.chunk.count ? Data() : state.chunk.dropFirst(piece.count)
    state.sent += Int64(piece.count)
    return .bytes(piece.count)
  }

  private func end(_ state: State) -> Fill {
    if let length, state.sent < length { return .failed(Self.mismatch) }
    return .bytes(0)
  }

  // MARK: The producer's side

  /// Makes a chunk each time libcurl asks for one, until ``close()``.
  ///
  /// It calls `available` after each chunk, after the end of the body, and after an error.
  func produce(_ available: @Sendable () -> Void) async {
    var attempt = -1
    var chunks: Chunks?
    while let wanted = await demand(), !Task.isCancelled {
      do {
        if attempt != wanted {
          chunks = Chunks(next: try makeChunks(), length: length)
          attempt = wanted
        }
        provide(try await chunks?.next(), wanted)
      } catch {
        fail(error, wanted)
      }
      available()
    }
  }

  /// Throws if a body with the length 0 has content, which libcurl would never ask for.
  func checkEmpty() async throws(SQOAuthError) {
    do {
      var chunks = Chunks(next: try makeChunks(), length: 0)
      _ = try await chunks.next()
    } catch {
      throw Self.wrap(error)
    }
  }

  /// The chunks of one attempt to send the body.
  private struct Chunks {
    private let makeNext: @Sendable () async throws -> Data?
    private let length: Int64?
    private var count: Int64 = 0
    private var isEnded = false

    init(next: @escaping @Sendable () async throws -> Data?, length: Int64?) {
      makeNext = next
      self.length = length
    }

    /// Returns the next chunk, or `nil` at the end of the body.
    ///
    /// The chunk with the last announced byte is returned only if no content follows. libcurl never
    /// asks for bytes beyond the announced length, so it would cut off a longer body, and the
    /// server would treat the part as the whole body.
    mutating func next() async throws -> Data? {
      guard !isEnded, let chunk = try await nonempty() else { return nil }
      count += Int64(chunk.count)
      guard let length, count >= length else { return chunk }
      guard count == length, try await nonempty() == nil else { throw UploadQueue.mismatch }
      isEnded = true
      return chunk
    }

    /// Returns the next chunk that has content; an empty chunk does not end the body.
    private func nonempty() async throws -> Data? {
      while let chunk = try await makeNext(), !Task.isCancelled {
        if !chunk.isEmpty { return chunk }
      }
      return nil
    }
  }

  private func provide(_ chunk: Data?, _ attempt: Int) {
    state.withLock { state in
      guard state.attempt == attempt else { return }
      state.making = nil
      if let chunk { state.chunk = chunk } else { state.isEnded = true }
    }
  }

  /// Ends the body of an attempt with an error, unless the body was restarted meanwhile.
  private func fail(_ error: any Error, _ attempt: Int) {
    state.withLock { state in
      guard state.attempt == attempt else { return }
      state.error = error
    }
  }

  /// Waits until libcurl asks for a chunk; returns the number of the attempt to send the body, or
  /// `nil` after ``close()``.
  private func demand() async -> Int? {
    await withCheckedContinuation { continuation in
      let answer = state.withLock { state -> Int?? in
        if state.isClosed { return .some(nil) }
        if state.isWanted {
          state.isWanted = false
          state.making = state.attempt
          return .some(state.attempt)
        }
        state.producer = continuation
        return .none
      }
      if let answer { continuation.resume(returning: answer) }
    }
  }

  /// A waiting producer and the attempt for which it must make a chunk.
  private struct Demand {
    let producer: CheckedContinuation<Int?, Never>
    let attempt: Int

    init?(_ producer: CheckedContinuation<Int?, Never>?, _ attempt: Int) {
      guard let producer else { return nil }
      self.producer = producer
      self.attempt = attempt
    }

    func resume() {
      producer.resume(returning: attempt)
    }
  }

  private static let mismatch = SQOAuthError(
    .malformedRequest, "the request's body does not have the length that was announced")

  private static func wrap(_ error: any Error) -> SQOAuthError {
    if let error = error as? FileFailure {
      return SQOAuthError(
        .malformedRequest, "the file to send cannot be read: \(error)", cause: FileError(error))
    }
    return error as? SQOAuthError
      ?? SQOAuthError(
        .cancelled, "the closure that makes the request's body threw an error; see the cause",
        cause: error)
  }
}
