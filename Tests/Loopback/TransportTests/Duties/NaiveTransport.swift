import Foundation
import SQBasics
import SequencingOAuth

/// An HTTP client that breaks some duties, and passes everything else to a good client.
struct NaiveTransport: HTTPTransport {
  typealias Send = @Sendable (WebRequest, CurlTransport) async throws -> WebResponse

  private let curl = CurlTransport()
  private let change: Send

  /// Creates a client that sends each request with `change`.
  init(_ change: @escaping Send) { self.change = change }

  func send(_ request: WebRequest) async throws -> WebResponse { try await change(request, curl) }

  /// Creates a client that changes each request and each response.
  static func changing(
    _ change: @escaping @Sendable (inout WebRequest) -> Void,
    response: @escaping @Sendable (inout WebResponse) -> Void = { _ in }
  ) -> NaiveTransport {
    NaiveTransport { request, curl in
      var changed = request
      change(&changed)
      var answer = try await curl.send(changed)
      response(&answer)
      return answer
    }
  }

  /// Sends a request again if its connection failed, as many clients do by default.
  static let tryingAgain = NaiveTransport { request, curl in
    do {
      return try await curl.send(request)
    } catch let error as SQOAuthError where error.code == .connectionFailed {
      guard case .bytes = request.body else { throw error }
      return try await curl.send(request)
    }
  }

  /// Sends a request again after a response with status 503.
  static let tryingAgainAfter503 = NaiveTransport { request, curl in
    let response = try await curl.send(request)
    guard response.status == 503, case .bytes = request.body else { return response }
    return try await curl.send(request)
  }

  /// Follows redirects, as many clients do by default.
  static let followingRedirects = NaiveTransport { request, curl in
    let response = try await curl.send(request)
    guard response.status == 302, let target = response.headers["Location"] else { return response }
    var next = request
    next.url = URL(string: target, relativeTo: request.url)?.absoluteURL ?? request.url
    return try await curl.send(next)
  }

  /// Returns a client that keeps cookies.
  static func keepingCookies() -> NaiveTransport {
    let cookie = Locked<String?>(nil)
    return NaiveTransport { request, curl in
      var request = request
      if let cookie = cookie.withLock(\.self) { request.headers["Cookie"] = cookie }
      let response = try await curl.send(request)
      if let new = response.headers["Set-Cookie"] {
        cookie.withLock { $0 = String(new.prefix { $0 != ";" }) }
      }
      return response
    }
  }

  /// Returns a client that caches each response with a `Cache-Control` field.
  static func caching() -> NaiveTransport {
    let kept = Locked<[URL: WebResponse]>([:])
    return NaiveTransport { request, curl in
      if let response = kept.withLock({ $0[request.url] }) { return response }
      let response = try await curl.send(request)
      if response.headers["Cache-Control"] != nil {
        kept.withLock { $0[request.url] = response }
      }
      return response
    }
  }

  /// Ignores both time limits and every cancellation.
  static let endless = NaiveTransport { request, curl in
    var request = request
    request.timeout = nil
    request.idleTimeout = nil
    let unlimited = request
    return try await Task.detached { try await curl.send(unlimited) }.value
  }

  /// Throws if the status is 400 or higher.
  static let throwingStatuses = NaiveTransport { request, curl in
    let response = try await curl.send(request)
    guard response.status < 400 else { throw URLError(.badServerResponse) }
    return response
  }

  /// Invents a response with status 503 if a request fails.
  static let inventing = NaiveTransport { request, curl in
    (try? await curl.send(request)) ?? WebResponse(status: 503)
  }

  /// Collects every content in memory, and then writes it to the request's destination.
  static let collecting = NaiveTransport { request, curl in
    var whole = request
    whole.destination = .memory
    whole.maximumResponseBytes = .max
    var response = try await curl.send(whole)
    switch request.destination {
    case .memory: return response
    case .file(let file): try response.body.write(to: file)
    case .stream(let take): try await take(response.head, response.body)
    }
    response.body = Data()
    return response
  }
}
