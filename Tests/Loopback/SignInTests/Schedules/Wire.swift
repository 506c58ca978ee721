import Foundation
import SQBasics
import SequencingOAuth

@testable import TestSupport

/// Watches every refresh on its way to the server and back, and knows which may not be sent.
final class Wire: Sendable {
  enum Outcome: Sendable {
    /// A token came.
    case delivered
    /// The refresh token was refused for good.
    case refused
    /// Another OAuth error came.
    case failed
    /// No answer that means anything: the server may have rotated the token or not.
    case lost
  }

  fileprivate struct Refresh {
    let sender: String
    let token: String
    let moves: Int
    /// Those of the same sender that were in flight when it began.
    let company: [Int]
    var end: (outcome: Outcome, moves: Int)?
    var isCancelled = false
  }

  fileprivate struct State {
    var refreshes: [Refresh] = []
    /// Counts what moves the clock, once before and once after.
    var moves = 0
    var isRotating: Bool
  }

  private let state: Locked<State>
  private let report: Report

  init(isRotating: Bool, report: Report) {
    state = Locked(State(isRotating: isRotating))
    self.report = report
  }

  /// How many refreshes were sent.
  var count: Int { state.withLock(\.refreshes.count) }

  /// How many had no answer that means anything.
  var losses: Int { state.withLock { $0.refreshes.count { $0.isLost } } }

  /// How many refresh tokens were sent again after their answer was lost; a server that detects
  /// reuse may report so many.
  var resends: Int {
    state.withLock { state in
      state.refreshes.indices.count { index in
        let token = state.refreshes[index].token
        return state.refreshes[..<index].contains { $0.token == token && $0.isLost }
      }
    }
  }

  /// Whether the answer to this token may have been lost, so that the client lacks its successor.
  func mayHaveLostSuccessor(of token: String) -> Bool {
    state.withLock { $0.refreshes.contains { $0.token == token && $0.isLost } }
  }

  /// Whether two refreshes of one sender were in flight at once, neither of them given up.
  var wereTwoInFlight: Bool {
    state.withLock { state in
      state.refreshes.contains { refresh in
        !refresh.isCancelled && refresh.company.contains { !state.refreshes[$0].isCancelled }
      }
    }
  }

  /// Moves a clock.
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
  /// What is wrong with a refresh that is about to be sent.
  fileprivate func faults(_ sender: String, _ token: String) -> [String] {
    var faults: [String] = []
    let mine = refreshes.filter { $0.sender == sender }
    let same = refreshes.filter { $0.token == token }
    if isRotating, same.contains(where: { $0.end?.outcome == .delivered && !$0.isCancelled }) {
      faults.append("\(sender) sends a refresh token whose successor it was given")
    }
    // Nobody moved the clock since it failed, so its back-off stands.
    if let last = mine.last, last.token == token, let end = last.end, end.moves == moves,
      end.outcome == .lost || end.outcome == .failed, !last.isCancelled
    {
      faults.append("\(sender) does not wait after a failure")
    }
    return faults
  }
}

/// The real client, watched.
struct WiredClient: HTTPClient {
  let wire: Wire
  let sender: String
  let client: any HTTPClient

  func send(_ request: HTTPRequest) async throws -> HTTPResponse {
    var request = request
    // Hundreds of servers one after the other would drive the other tests' connections out.
    request.headers["Connection"] = "close"
    guard let form = ScriptedHTTPClient.form(of: request), form["grant_type"] == "refresh_token"
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

  private static func outcome(_ response: HTTPResponse) -> Wire.Outcome {
    guard let body = try? JSONDecoder().decode(Body.self, from: response.body) else { return .lost }
    if let error = body.error { return error == "invalid_grant" ? .refused : .failed }
    guard response.status == 200, body.accessToken != nil, body.tokenType != nil else {
      return .lost
    }
    return .delivered
  }
}
