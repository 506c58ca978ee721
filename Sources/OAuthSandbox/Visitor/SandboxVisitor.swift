public import Basics
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
/// loopback addresses only, and leaves every other redirect URI to its caller.
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

  /// An answer that the visitor got on the way, which is a page or a redirect.
  public struct Page: Sendable {
    /// Where it was found.
    public let url: String
    /// The status of the answer.
    public let status: Int
    /// Its markup.
    public let body: String
  }

  /// A visit that led back to the app.
  public struct Visit: Sendable {
    /// Every page, in order; the last is what the user is left with.
    public let pages: [Page]
    /// Where the sandbox sent the user back to.
    ///
    /// An `http` address has been called, and its answer is the last page. A redirect with `https`
    /// or a scheme of the app's own was not opened: the caller passes it to the app, as the system
    /// does. A user agent does so with `PendingSignIn.handleRedirect(_:)` for any redirect.
    public let redirect: String

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
  /// - Throws: ``SandboxError``: ``SandboxError/endedOnPage(heading:detail:)`` where a page leads no
  ///   further, as after a wrong password; another one where the way leads off this computer, a
  ///   connection breaks or the redirects go in circles.
  public func visit(_ url: URL) async throws(SandboxError) -> Visit {
    guard let start = LoopbackURL(url.absoluteString) else {
      throw .notLoopback(RedirectTarget.origin(of: url.absoluteString))
    }
    var next = Step(url: start)
    var pages: [Page] = []
    var passwordsTyped = 0
    // A sign-in takes five steps; a visitor who needs more is led in circles.
    for _ in 0..<16 {
      let page: Page
      switch try await take(next, from: start, &pages) {
      case .end(let visit): return visit
      case .open(let step):
        next = step
        continue
      case .read(let last): page = last
      }
      guard let form = Form(page.body), let url = LoopbackURL(start.origin + form.action) else {
        throw .ended(on: page, after: pages)
      }
      if form.asksForPassword && decision != .cancel { passwordsTyped += 1 }
      guard passwordsTyped <= (triesWrongPasswordFirst ? 2 : 1) else {
        throw .ended(on: page, after: pages)
      }
      next = Step(url: url, form: fill(form, attempt: passwordsTyped))
    }
    throw .unexpectedAnswer("the sign-in does not come to an end")
  }

  // MARK: Steps

  private struct Step {
    let url: LoopbackURL
    /// Given for a POST.
    var form: [(name: String, value: String)]?
  }

  /// What a step led to.
  private enum Outcome {
    case open(Step)
    case read(Page)
    case end(Visit)
  }

  /// Takes a step, and follows the redirect that it is answered with.
  private func take(
    _ step: Step, from start: LoopbackURL, _ pages: inout [Page]
  ) async throws(SandboxError) -> Outcome {
    let answer = try await send(step)
    let page = Page(step.url.origin + step.url.target, answer)
    pages.append(page)
    guard (301...308).contains(answer.status), let location = answer.header("location") else {
      return .read(page)
    }
    switch try RedirectTarget(location, from: step.url, start: start) {
    case .sameServer(let url): return .open(Step(url: url))
    case .app(let redirect): return .end(Visit(pages: pages, redirect: redirect))
    case .listener(let url, let redirect):
      pages.append(Page(redirect, try await send(Step(url: url))))
      return .end(Visit(pages: pages, redirect: redirect))
    }
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

extension SandboxVisitor.Page {
  init(_ url: String, _ answer: LoopbackAnswer) {
    self.init(
      url: url, status: answer.status, body: String(decoding: answer.body, as: UTF8.self))
  }
}

extension SandboxVisitor: Redacted {
  /// The user's name, without the password and the cookies.
  public var description: String { "visitor \(user.name)" }
}
