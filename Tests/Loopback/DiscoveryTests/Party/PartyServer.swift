import SQBasics
import SQLoopback

@testable import LoopbackSupport

/// A server of a party on a port of its own.
final class PartyServer: Sendable {
  private let server: Server
  private let answerer: Answerer
  let origin: String

  /// Starts a server whose requests the journal notes.
  init(_ name: String, _ journal: Journal) throws {
    let answerer = Answerer()
    self.answerer = answerer
    server = try Server { request, _ in
      let visit = Visit(name, request)
      journal.add(visit)
      guard let answer = answerer.answer.withLock(\.self) else {
        return .response(LoopbackResponse(status: 404))
      }
      return await answer(visit)
    }
    origin = "http://\(server.loopback.authority)"
  }

  /// Answers with a closure from now on; before, everything is 404.
  func answer(_ answer: @escaping @Sendable (Visit) async -> LoopbackReply) {
    answerer.answer.withLock { $0 = answer }
  }

  func stop() async { await server.loopback.stop() }

  /// The closure that answers, which may refer to the owner of the server.
  private final class Answerer: Sendable {
    let answer = Locked<(@Sendable (Visit) async -> LoopbackReply)?>(nil)
  }
}
