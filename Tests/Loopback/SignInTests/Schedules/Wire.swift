import Foundation
import SQBasics
import SequencingOAuth

@testable import TestSupport

/// An observer of every refresh on its way to the server and back, which detects forbidden
/// refreshes.
final class Wire: Sendable {
  enum Outcome: Sendable {
    /// The answer had a token.
    case delivered
    /// The refresh token was rejected permanently.
    case refused
    /// The answer was another OAuth error.
    case failed
    /// No meaningful answer arrived, so the server may or may not have rotated the token.
    case lost
  }

  fileprivate struct Refresh {
    let sender: String
    let token: String
    let moves: Int
    /// The indices of the sender's other refreshes that were in flight when this refresh began.
    let company: [Int]
    var end: (outcome: Outcome, moves: Int)?
    var isCancelled = false
  }

  fileprivate struct State {
    var refreshes: [Refresh] = []
    /// A counter that increases before and after each move of a clock.
    var moves = 0
    var isRotating: Bool
  }

  private let state: Locked<State>
  private let report: Report

  init(isRotating: Bool, report: Report) {
    state = Locked(State(isRotating: isRotating))
    self.report = report
  }

  /// The number of refreshes that were sent.
  var count: Int { state.withLock(\.refreshes.count) }

  /// The number of refreshes without a meaningful answer.
  var losses: Int { state.withLock { $0.refreshes.count { $0.isLost } } }

  /// The number of refreshes that sent a token again after its answer was lost.
  ///
  /// A server that detects reuse may report at most this many reuses.
  var resends: Int {
    state.withLock { state in
      state.refreshes.indices.count { index in
        let token = state.refreshes[index].token
        return state.refreshes[..<index].contains { $0.token == token && $0.isLost }
      }
    }
  }

  /// Returns whether a refresh with this token may have succeeded without the client's knowledge.
  func mayHaveLostSuccessor(of token: String) -> Bool {
    state.withLock { $0.refreshes.contains { $0.token == token && $0.isLost } }
  }

  /// Whether one sender had two refreshes in flight at the same time, neither cancelled.
  var wereTwoInFlight: Bool {
    state.withLock { state in
      state.refreshes.contains { refresh in
        !refresh.isCancelled && refresh.company.contains { !state.refreshes[$0].isCancelled }
      }
    }
  }

  /// Moves a clock and counts the move.
  func move(_ body: () -> Void) {
    state.withLock { $0.moves += 1 }
    body()
    state.withLock { $0.moves += 1 }
  }

  fileprivate func begin(_ sender: String, _ token: String) -> Int {
    let (id, faults) = state.withLock { state in
      let faults = state.faults(sender, token)
      let company = state.refreshes.indices.filter { index in
        state.refreshes[index].sender == sender && state.refreshes[index].end == nil
      }
      state.refreshes.append(
        Refresh(sender: sender, token: token, moves: state.moves, company: company))
      return (state.refreshes.count - 1, faults)
    }
    report.note("\(sender) sends \(report.name(token))")
    for fault in faults { report.add(fault) }
    return id
  }

  fileprivate func end(_ id: Int, _ outcome: Outcome) {
    let token = state.withLock { state in
      state.refreshes[id].end = (outcome, state.moves)
      return state.refreshes[id].token
    }
    report.note("\(outcome): \(report.name(token))")
  }

  fileprivate func cancel(_ id: Int) {
    state.withLock { $0.refreshes[id].isCancelled = true }
    report.note("a refresh is cancelled")
  }
}

extension Wire.Refresh {
  fileprivate var isLost: Bool {
    switch end?.outcome {
    case .delivered?: isCancelled
    case .refused?, .failed?: false
    case .lost?, nil: true
    }
  }
}

extension Wire.State {
  /// Returns the rules that a refresh about to be sent would break.
  fileprivate func faults(_ sender: String, _ token: String) -> [String] {
    var faults: [String] = []
    let mine = refreshes.filter { $0.sender == sender }
    let same = refreshes.filter { $0.token == token }
    if isRotating, same.contains(where: { $0.end?.outcome == .delivered && !$0.isCancelled }) {
      faults.append("\(sender) sends a refresh token although its successor has arrived")
    }
    // The clock has not moved since the failure, so the delay still applies.
    if let last = mine.last, last.token == token, let end = last.end, end.moves == moves,
      end.outcome == .lost || end.outcome == .failed, !last.isCancelled
    {
      faults.append("\(sender) does not wait after a failure")
    }
    return faults
  }
}

/// The real client, which reports its refreshes to a `Wire`.
struct WiredClient: HTTPTransport {
  let wire: Wire
  let sender: String
  let client: any HTTPTransport

  func send(_ request: WebRequest) async throws -> WebResponse {
    var request = request
    // Connections to hundreds of servers would push out the connections of other tests.
    request.headers["Connection"] = "close"
    guard let form = ScriptedTransport.form(of: request), form["grant_type"] == "refresh_token"
    else { return try await client.send(request) }
    let id = wire.begin(sender, form["refresh_token"] ?? "")
    return try await withTaskCancellationHandler {
      do {
        let response = try await client.send(request)
        wire.end(id, Self.outcome(response))
        return response
      } catch {
        wire.end(id, .lost)
        throw error
      }
    } onCancel: {
      wire.cancel(id)
    }
  }

  private struct Body: Decodable {
    let error: String?
    let accessToken: String?
    let tokenType: String?

    enum CodingKeys: String, CodingKey {
      case error
      case accessToken = "access_token"
      case tokenType = "token_type"
    }
  }

  private static func outcome(_ response: WebResponse) -> Wire.Outcome {
    guard let body = try? JSONDecoder().decode(Body.self, from: response.body) else { return .lost }
    if let error = body.error { return error == "invalid_grant" ? .refused : .failed }
    guard response.status == 200, body.accessToken != nil, body.tokenType != nil else {
      return .lost
    }
    return .delivered
  }
}
