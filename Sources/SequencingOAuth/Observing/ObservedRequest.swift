import SQBasics
import SQFoundation

/// The details of a request for an observer, besides the request itself.
struct ObservedRequest {
  let purpose: ClientEvent.Request.Purpose
  /// The number of the attempt, starting at 1.
  var attempt = 1
  /// The access token in the request.
  var token: SQToken?
  var accountID: String?
}

extension HTTPTransport {
  /// Sends a request, and tells the observer of it.
  ///
  /// See ``exchange(_:_:)``.
  func exchange(
    _ request: WebRequest, for what: ObservedRequest, _ observer: ClientObserver?,
    _ clock: any WallClock, _ interruption: Interruption? = nil
  ) async throws(SQOAuthError) -> WebResponse {
    guard let observer else { return try await exchange(request, interruption) }
    let details = ClientEvent.Request(request.method, request.url, what, at: clock.now)
    let subject = ClientEvent.Subject.request(details)
    return try await Optional(observer).observing(
      subject, accountID: what.accountID, result: { details.ending($0, at: clock.now) }
    ) { () throws(SQOAuthError) in
      var request = request
      request.headers = observer.adding(
        to: request.headers, observer.event(subject, .begin, of: .current))
      return try await exchange(request, interruption)
    }
  }
}

extension ClientEnvironment {
  /// Sends a request, and tells the observer of it.
  ///
  /// See ``HTTPTransport/exchange(_:_:)``.
  package func exchange(
    _ request: WebRequest, for purpose: ClientEvent.Request.Purpose
  ) async throws(SQOAuthError) -> WebResponse {
    try await exchange(request, for: ObservedRequest(purpose: purpose))
  }

  func exchange(
    _ request: WebRequest, for what: ObservedRequest, _ interruption: Interruption? = nil
  ) async throws(SQOAuthError) -> WebResponse {
    try await transport.exchange(request, for: what, observer, clock, interruption)
  }
}

extension ClientEvent.Request {
  init(_ method: String, _ url: URL, _ what: ObservedRequest, at now: Date) {
    let target = try? RequestTarget(url)
    self.init(
      purpose: what.purpose, method: method,
      server: target.map { ($0.isSecure ? "https://" : "http://") + $0.authority }
        ?? "an invalid address",
      attempt: what.attempt,
      tokenLife: what.token?.expirationDate.map {
        .bounded(seconds: $0.timeIntervalSince(now))
      })
  }

  /// Returns the subject of the request's end event; `nil` if there was no response.
  fileprivate func ending(
    _ outcome: Result<WebResponse, SQOAuthError>, at now: Date
  ) -> ClientEvent.Subject? {
    guard case .success(let response) = outcome else { return nil }
    var details = self
    details.status = response.status
    details.retryAfter = RetryAfter.delay(in: response.headers, now: now)
    return .request(details)
  }
}
