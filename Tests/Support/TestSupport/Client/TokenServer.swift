import Foundation
import SQBasics
import SequencingOAuth

/// An authorization server and an API for a ``ScriptedTransport``.
///
/// It issues tokens T1, T2, … with refresh tokens R1, R2, …, and accepts only the newest ones.
final class TokenServer: Sendable {
  typealias Answer = ScriptedTransport.Answer

  /// The properties of the next tokens, and the handling of cancelled requests.
  struct Manners: Sendable {
    var lifetime: Int? = 3600
    /// The JSON of the refresh token in the responses: `nil` for the next one, such as `R2`, and an
    /// empty string to leave the token out.
    var refreshToken: String?
    var more = ""
    /// Whether cancelled requests are answered, as by an app's transport that ignores cancellation.
    var answersCancelled = false
  }

  fileprivate struct State {
    var issued = 0
    var refreshToken: String?
    var accepted: Set<String> = []
    var manners = Manners()
    var script: [Answer] = []
    var always: Answer?
  }

  /// The gate that refreshes pass before they are answered.
  let gate = Gate()
  /// The gate that all other token requests pass.
  let signInGate = Gate()
  private let state = Locked(State())

  /// The number of issued tokens.
  var issued: Int { state.withLock(\.issued) }

  /// Queues answers: each one answers one of the next token requests.
  func next(_ answers: Answer...) { state.withLock { $0.script += answers } }

  /// Answers every token request with a closure; `nil` restores the normal answers.
  func always(_ answer: Answer?) { state.withLock { $0.always = answer } }

  func change(_ body: @Sendable (inout Manners) -> Void) {
    state.withLock { body(&$0.manners) }
  }

  /// Rejects an access token from now on.
  func refuse(_ accessToken: String) {
    state.withLock { _ = $0.accepted.remove(accessToken) }
  }

  /// Accepts only this refresh token until the server issues the next one.
  func expect(_ refreshToken: String) { state.withLock { $0.refreshToken = refreshToken } }

  /// Issues a token without a request, and returns it.
  func issue(at date: Date) -> SQToken {
    let (count, manners) = state.withLock { $0.issue() }
    return SQToken(
      accessToken: "T\(count)",
      expirationDate: manners.lifetime.map { date + Double($0) }, tokenType: "Bearer",
      scope: "demo", refreshToken: "R\(count)", issueDate: date)
  }

  /// Answers a request; throws if the client's task was cancelled, unless `answersCancelled` is
  /// set.
  func answer(_ request: WebRequest) async throws -> WebResponse {
    let response = try await reply(to: request)
    if !state.withLock(\.manners.answersCancelled) { try Task.checkCancellation() }
    return response
  }

  private func reply(to request: WebRequest) async throws -> WebResponse {
    guard request.url.path() == "/token" else { return api(request) }
    let form = ScriptedTransport.form(of: request) ?? [:]
    await (form["grant_type"] == "refresh_token" ? gate : signInGate).pass()
    let scripted = state.withLock { state in
      state.always ?? (state.script.isEmpty ? nil : state.script.removeFirst())
    }
    if let scripted { return try await scripted(request) }
    let body = state.withLock { $0.token(form) }
    return try await body(request)
  }

  private func api(_ request: WebRequest) -> WebResponse {
    let token = request.headers["Authorization"]?.dropFirst("Bearer ".count)
    let isAccepted = state.withLock { state in
      token.map { state.accepted.contains(String($0)) } ?? false
    }
    guard !isAccepted else {
      return WebResponse(status: 200, body: Data("hello".utf8))
    }
    return Self.challenge(#"Bearer realm="r", error="invalid_token""#)
  }

  /// Returns an API's rejection; a `nil` challenge leaves `WWW-Authenticate` out.
  static func challenge(_ challenge: String?, status: Int = 401) -> WebResponse {
    var headers: HeaderFields = [:]
    headers["WWW-Authenticate"] = challenge
    return WebResponse(status: status, headers: headers)
  }
}

extension TokenServer.State {
  fileprivate mutating func issue() -> (Int, TokenServer.Manners) {
    issued += 1
    accepted = ["T\(issued)"]
    if manners.refreshToken == nil { refreshToken = "R\(issued)" }
    return (issued, manners)
  }

  fileprivate mutating func token(_ form: [String: String]) -> TokenServer.Answer {
    if form["grant_type"] == "refresh_token", form["refresh_token"] != refreshToken {
      return ScriptedTransport.json(#"{"error":"invalid_grant"}"#, status: 400)
    }
    let (count, manners) = issue()
    var members = #""scope":"demo""#
    if let lifetime = manners.lifetime { members += #","expires_in":\#(lifetime)"# }
    switch manners.refreshToken {
    case nil: members += #","refresh_token":"R\#(count)""#
    case ""?: break
    case let json?: members += #","refresh_token":\#(json)"#
    }
    if !manners.more.isEmpty { members += ",\(manners.more)" }
    return ScriptedTransport.token("T\(count)", members: members)
  }
}
