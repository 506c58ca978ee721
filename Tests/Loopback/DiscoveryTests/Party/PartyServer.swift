import SQBasics
import SQLoopback

@testable import LoopbackSupport

/// A loopback HTTP server for one role in a test, such as the resource server; the journal records
/// its requests.
final class PartyServer: Sendable {
  /// Keeps other servers away from the port after the server has stopped.
  private let reservation: BoundSocket
  private let server: Server
  private let answerer: Answerer
  let origin: String

  /// Starts a server whose requests `journal` records.
  init(_ name: String, _ journal: Journal) throws {
    let answerer = Answerer()
    self.answerer = answerer
    reservation = try BoundSocket()
    server = try Server(port: reservation.port) { request, _ in
      let visit = Visit(name, request)
      journal.add(visit)
      guard let answer = answerer.answer.withLock(\.self) else {
        return .response(LoopbackResponse(status: 404))
      }
      return await answer(visit)
    }
    origin = "http://\(server.loopback.authority)"
  }

  /// Sets the closure that answers the requests; before that, the server answers each request with
  /// 404.
  func answer(_ answer: @escaping @Sendable (Visit) async -> LoopbackReply) {
    answerer.answer.withLock { $0 = answer }
  }

  func stop() async { await server.loopback.stop() }

  /// A box for the closure that answers, so that the closure can refer to the owner of the server.
  private final class Answerer: Sendable {
    let answer = Locked<(@Sendable (Visit) async -> LoopbackReply)?>(nil)
  }
}
