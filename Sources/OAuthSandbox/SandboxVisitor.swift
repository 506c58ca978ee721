import LoopbackHTTP

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Plays the user and the browser: signs in at a sandbox and is sent back to the app.
///
/// ```swift
/// let visit = try await SandboxVisitor().visit(authorizationURL)
/// ```
///
/// It keeps its cookies, so a second visit by the same visitor needs no password. It talks to
/// loopback addresses only.
public final class SandboxVisitor: Sendable {
  /// What the user makes of the sign-in.
  public enum Decision: Sendable, Hashable {
    /// Signs in and allows what is asked.
    case allow
    /// Signs in and denies it.
    case deny
    /// Goes back at the login page already; a user who is signed in denies.
    case cancel
  }

  /// A page, or the lack of one, that the visitor came to.
  public struct Page: Sendable {
    /// Where it was found.
    public let url: String
    /// The status of the answer.
    public let status: Int
    /// Its markup.
    public let body: String
  }

  /// How a visit went.
  public struct Visit: Sendable {
    /// Every page, in order; the last is what the user is left with.
    public let pages: [Page]
    /// Where the sandbox sent the user back to; `nil` when it did not.
    ///
    /// A loopback address has been called, and its answer is the last page. A URL with any other
    /// scheme is the app's own, and is left to the caller.
    public let redirect: String?

    /// Whether the user was asked for a password.
    public var sawLogin: Bool { pages.contains { Form($0.body)?.asksForPassword ?? false } }
  }

  private let user: SandboxUser
  private let decision: Decision
  private let triesWrongPasswordFirst: Bool
  private let cookies = Locked<[String: [String: String]]>([:])

  /// Makes a user, who is Alice and allows everything by default.
  public init(
    user: SandboxUser = .alice, decision: Decision = .allow, triesWrongPasswordFirst: Bool = false
  ) {
    self.user = user
    self.decision = decision
    self.triesWrongPasswordFirst = triesWrongPasswordFirst
  }

  /// Opens an authorization URL and goes through with it, up to the page after the redirect.
  ///
  /// Throws a ``SandboxError`` when the way leads off the loopback addresses, or nowhere.
  public func visit(_ url: URL) async throws -> Visit {
    guard let start = LoopbackURL(url.absoluteString) else {
      throw SandboxError.notLoopback(url.absoluteString)
    }
    var next = Step(url: start)
    var pages: [Page] = []
    var passwordsTyped = 0
    // A sign-in takes five steps; whoever needs more is being led in circles.
    for _ in 0..<16 {
      let answer = try await send(next)
      let page = Page(
        url: next.url.origin + next.url.target, status: answer.status,
        body: String(decoding: answer.body, as: UTF8.self))
      pages.append(page)
      if (301...308).contains(answer.status), let location = answer.header("location") {
        let target = location.hasPrefix("/") ? next.url.origin + location : location
        guard let url = LoopbackURL(target) else {
          return try Self.left(for: target, pages)
        }
        if url.origin != start.origin { return try await deliver(url, as: target, pages) }
        next = Step(url: url)
      } else if let form = Form(page.body), let url = LoopbackURL(start.origin + form.action) {
        if form.asksForPassword && decision != .cancel { passwordsTyped += 1 }
        guard passwordsTyped <= (triesWrongPasswordFirst ? 2 : 1) else {
          return Visit(pages: pages, redirect: nil)
        }
        next = Step(url: url, form: fill(form, attempt: passwordsTyped))
      } else {
        return Visit(pages: pages, redirect: nil)
      }
    }
    throw SandboxError.unexpectedAnswer("the sign-in does not come to an end")
  }

  // MARK: Steps

  private struct Step {
    let url: LoopbackURL
    /// Given for a POST.
    var form: [(name: String, value: String)]?
  }

  private func fill(_ form: Form, attempt: Int) -> [(name: String, value: String)] {
    guard form.asksForPassword else {
      return form.hidden + [("decision", decision == .allow ? "allow" : "deny")]
    }
    guard decision != .cancel else { return form.hidden + [("decision", "cancel")] }
    let isWrong = triesWrongPasswordFirst && attempt == 1
    return form.hidden + [
      ("username", user.name),
      ("password", isWrong ? "not-" + user.password : user.password),
      ("decision", "sign-in"),
    ]
  }

  private static func left(for target: String, _ pages: [Page]) throws(SandboxError) -> Visit {
    let scheme = target.prefix { $0 != ":" }.lowercased()
    guard scheme != "http", scheme != "https" else { throw .notLoopback(target) }
    return Visit(pages: pages, redirect: target)
  }

  private func deliver(
    _ url: LoopbackURL, as target: String, _ pages: [Page]
  ) async throws -> Visit {
    let answer = try await send(Step(url: url))
    let page = Page(
      url: target, status: answer.status, body: String(decoding: answer.body, as: UTF8.self))
    return Visit(pages: pages + [page], redirect: target)
  }

  private func send(_ step: Step) async throws(SandboxError) -> LoopbackAnswer {
    let origin = step.url.origin
    let jar = cookies.withLock { $0[origin] ?? [:] }
    var headers = [(name: "Accept", value: "text/html")]
    if !jar.isEmpty {
      headers.append(("Cookie", jar.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")))
    }
    var body = ""
    if let form = step.form {
      headers.append(("Content-Type", "application/x-www-form-urlencoded"))
      body = form.map { FormCoding.encode($0.name) + "=" + FormCoding.encode($0.value) }
        .joined(separator: "&")
    }
    let answer: LoopbackAnswer
    do {
      answer = try await LoopbackClient.send(
        step.form == nil ? "GET" : "POST", step.url, headers: headers, body: Data(body.utf8))
    } catch {
      throw SandboxError(error)
    }
    keepCookies(of: answer, for: origin)
    return answer
  }

  private func keepCookies(of answer: LoopbackAnswer, for origin: String) {
    for field in answer.headers where field.name == "set-cookie" {
      let pair = field.value.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
      guard pair.count == 2 else { continue }
      cookies.withLock { $0[origin, default: [:]][String(pair[0])] = String(pair[1]) }
    }
  }
}

extension SandboxVisitor: CustomReflectable {
  /// The user's name, without password and cookies.
  public var customMirror: Mirror { Mirror(self, children: ["user": user.name]) }
}
