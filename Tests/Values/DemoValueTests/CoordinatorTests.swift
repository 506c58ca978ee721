import Foundation
import SQBasics
import SequencingOAuth
import Testing

@testable import sq_demo

@Suite struct `The coordinator` {
  typealias Event = Coordinator.Event
  typealias Action = Coordinator.Action
  typealias Screen = Coordinator.Screen

  private static let token = SQToken(accessToken: "secret-token", scope: "demo")
  private static let newer = SQToken(accessToken: "newer-token", scope: "demo")
  private static let now = Date(timeIntervalSince1970: 1_000_000)
  private static let file = DriveFile(id: "a", title: "A", size: 1, modified: nil, type: nil)
  private static let failed = Coordinator.Notice.failed(code: "server_error", message: "it failed")

  /// A sequence of events, with the expected screen and action after each event.
  struct Walk: Sendable, CustomTestStringConvertible {
    let name: String
    let steps: [(event: Event, screen: String, action: Action?)]
    var testDescription: String { name }
  }

  private static let signedIn: [(event: Event, screen: String, action: Action?)] = [
    (.signIn(.visitor), "waiting", .signIn(.visitor)),
    (.userIsAuthorized(token), "main of nobody", .askWhoSignedIn(token)),
    (.userIsKnown("alice"), "main of alice, reading", .readFiles),
    (.filesAreRead(.read([], isAll: true)), "main of alice", nil),
  ]

  private static let walks = [
    Walk(
      name: "success leads to the main screen with the token, and signing out leads back",
      steps: [
        (.signIn(.browser), "waiting", .signIn(.browser)),
        (.pageIsReady("http://a"), "waiting", nil),
        (.userIsAuthorized(token), "main of nobody", .askWhoSignedIn(token)),
        (.userIsKnown("alice"), "main of alice, reading", .readFiles),
        (.signOut, "login", .signOut),
      ]),
    Walk(
      name: "a failure stays on the login screen, and the next try may succeed",
      steps: [
        (.signIn(.browser), "waiting", .signIn(.browser)),
        (.userIsNotAuthorized(failed), "login after server_error", nil),
        (.signIn(.visitor), "waiting", .signIn(.visitor)),
        (.userIsAuthorized(token), "main of nobody", .askWhoSignedIn(token)),
      ]),
    Walk(
      name: "cancelling waits until the SDK reports the cancellation",
      steps: [
        (.signIn(.browser), "waiting", .signIn(.browser)),
        (.cancelSignIn, "waiting", .cancelSignIn),
        (.userIsNotAuthorized(.cancelled), "login after cancelling", nil),
      ]),
    Walk(
      name: "a token that arrives before the cancellation is accepted",
      steps: [
        (.signIn(.browser), "waiting", .signIn(.browser)),
        (.cancelSignIn, "waiting", .cancelSignIn),
        (.userIsAuthorized(token), "main of nobody", .askWhoSignedIn(token)),
      ]),
    Walk(
      name: "a browser that does not open shows the address, and the sign-in goes on",
      steps: [
        (.signIn(.browser), "waiting", .signIn(.browser)),
        (.playUser, "waiting", nil),
        (.pageIsReady("http://a"), "waiting", nil),
        (
          .browserIsUnavailable("no display; use a user agent"),
          "waiting at http://a: No browser was opened: no display.", nil
        ),
        (.playUser, "waiting", .playUser(address: "http://a")),
        (.playUser, "waiting", nil),
        (.userIsAuthorized(token), "main of nobody", .askWhoSignedIn(token)),
      ]),
    Walk(
      name: "a simulated user who fails leaves the sign-in to the browser",
      steps: [
        (.signIn(.browser), "waiting", .signIn(.browser)),
        (.pageIsReady("http://a"), "waiting", nil),
        (.playUser, "waiting", .playUser(address: "http://a")),
        (
          .visitorDidFail("no page; call it again"),
          "waiting at http://a: The simulated user did not sign in: no page.", nil
        ),
        (.playUser, "waiting", .playUser(address: "http://a")),
      ]),
    Walk(
      name: "a rejected redirect is shown, and the sign-in goes on",
      steps: [
        (.signIn(.browser), "waiting", .signIn(.browser)),
        (.redirectIsRefused("denied"), "waiting, told: denied", nil),
        (.userIsAuthorized(token), "main of nobody", .askWhoSignedIn(token)),
        (.redirectIsRefused("denied"), "main of nobody", nil),
      ]),
    Walk(
      name: "the address is shown on request",
      steps: [
        (.signIn(.browser), "waiting", .signIn(.browser)),
        (.pageIsReady("http://a"), "waiting", nil),
        (.showAddress, "waiting at http://a", nil),
      ]),
    Walk(
      name: "an event that does not fit the screen changes nothing",
      steps: [
        (.signOut, "login", nil), (.cancelSignIn, "login", nil), (.playUser, "login", nil),
        (.userIsKnown("eve"), "login", nil),
        (.userIsNotAuthorized(failed), "login", nil),
        (.signIn(.browser), "waiting", .signIn(.browser)),
        (.signIn(.browser), "waiting", nil), (.signOut, "waiting", nil),
        (.userIsAuthorized(token), "main of nobody", .askWhoSignedIn(token)),
        (.userIsNotAuthorized(failed), "main of nobody", nil),
        (.cancelSignIn, "main of nobody", nil), (.signIn(.browser), "main of nobody", nil),
      ]),
    Walk(
      name: "a refresh brings the newer token to the same screen",
      steps: signedIn + [
        (.refresh, "main of alice, refreshing", .refresh),
        (.refresh, "main of alice, refreshing", nil),
        (
          .tokenIsRefreshed(newer, at: now),
          "main of alice with a newer token, refreshing, told: refreshed", nil
        ),
        (.refreshHasEnded, "main of alice with a newer token, told: refreshed", nil),
        (.refresh, "main of alice with a newer token, refreshing, told: refreshed", .refresh),
      ]),
    Walk(
      name: "a failed refresh keeps the session, and a repeated failure is shown once",
      steps: signedIn + [
        (
          .tokenRefreshDidFail(code: "server_error", message: "no", at: now),
          "main of alice, told: server_error", nil
        ),
        (
          .tokenRefreshDidFail(code: "server_error", message: "no", at: now + 1),
          "main of alice, told: server_error", nil
        ),
        (
          .tokenRefreshDidFail(code: "connection_failed", message: "no", at: now + 2),
          "main of alice, told: connection_failed server_error", nil
        ),
        (
          .tokenIsRefreshed(newer, at: now + 3),
          "main of alice with a newer token, told: refreshed connection_failed server_error", nil
        ),
      ]),
    Walk(
      name: "a session that the server ends leads to the login screen, with the reason",
      steps: signedIn + [
        (.endSessionAtServer, "main of alice, over at the server", .endSessionAtServer),
        (.refresh, "main of alice, over at the server, refreshing", .refresh),
        (
          .sessionDidEnd(.ended(code: "invalid_grant", message: "over")),
          "login after the end by invalid_grant", nil
        ),
        (.refreshHasEnded, "login after the end by invalid_grant", nil),
        (.signIn(.visitor), "waiting", .signIn(.visitor)),
      ]),
    Walk(
      name: "the files are read again on request, and the old ones stay meanwhile",
      steps: signedIn + [
        (.readFiles, "main of alice", .readFiles),
        (.filesAreRead(.read([file], isAll: true)), "main of alice, with 1 file", nil),
        (.readFiles, "main of alice, with 1 file", .readFiles),
        (
          .filesAreRead(.failed(code: "http_503", message: "no")),
          "main of alice, without files for http_503", nil
        ),
        (.readFiles, "main of alice, reading", .readFiles),
        (.readFiles, "main of alice, reading", nil),
      ]),
    Walk(
      name: "revoking leaves no file, and reading again asks for access",
      steps: signedIn + [
        (.filesAreRead(.read([file], isAll: true)), "main of alice, with 1 file", nil),
        (.revoke, "main of alice, with 1 file", .revoke),
        (
          .sessionDidEnd(.ended(code: "revoked", message: "so")), "login after the end by revoked",
          nil
        ),
        (.readFiles, "waiting", .readFiles),
        (.pageIsReady("http://a"), "waiting", nil),
        (.playUser, "waiting", .playUser(address: "http://a")),
        (.userIsAuthorized(token), "main of nobody, reading", .askWhoSignedIn(token)),
        (.userIsKnown("alice"), "main of alice, reading", nil),
        (.filesAreRead(.read([file], isAll: true)), "main of alice, with 1 file", nil),
      ]),
    Walk(
      name: "a session ends before its files are read, and the pipe asks for access",
      steps: signedIn + [
        (.readFiles, "main of alice", .readFiles),
        (
          .sessionDidEnd(.ended(code: "revoked", message: "so")), "login after the end by revoked",
          nil
        ),
        (.pageIsReady("http://a"), "waiting", nil),
        (.playUser, "waiting", .playUser(address: "http://a")),
        (.userIsAuthorized(token), "main of nobody, reading", .askWhoSignedIn(token)),
      ]),
    Walk(
      name: "a failed revocation is shown and changes nothing else",
      steps: signedIn + [
        (.revoke, "main of alice", .revoke),
        (
          .revocationDidFail(code: "server_error", message: "no", at: now),
          "main of alice, told: not revoked", nil
        ),
      ]),
    Walk(
      name: "a user who denies access to the files gets back to the login screen",
      steps: [
        (.readFiles, "waiting", .readFiles),
        (.userIsNotAuthorized(.cancelled), "login after cancelling", nil),
        (
          .filesAreRead(.failed(code: "cancelled", message: "no")), "login after cancelling", nil
        ),
        (.filesAreRead(.read([file], isAll: true)), "login after cancelling", nil),
      ]),
    Walk(
      name: "signing out shows no reason, and later events about it change nothing",
      steps: signedIn + [
        (.signOut, "login", .signOut), (.sessionDidEnd(nil), "login", nil),
        (.signIn(.browser), "waiting", .signIn(.browser)), (.sessionDidEnd(nil), "waiting", nil),
      ]),
    Walk(
      name: "notifications of an ended session change nothing",
      steps: [
        (.tokenIsRefreshed(newer, at: now), "login", nil), (.refresh, "login", nil),
        (.tokenRefreshDidFail(code: "x", message: "y", at: now), "login", nil),
        (.endSessionAtServer, "login", nil),
        (.signIn(.browser), "waiting", .signIn(.browser)),
        (.tokenIsRefreshed(newer, at: now), "waiting", nil), (.refresh, "waiting", nil),
      ]),
    Walk(name: "the user can quit", steps: [(.quit, "login", .quit)]),
  ]

  @Test(arguments: walks)
  func `each event leads to the expected screen and action`(walk: Walk) {
    var coordinator = Coordinator()
    #expect(Self.name(coordinator.screen) == "login")
    for (number, step) in walk.steps.enumerated() {
      #expect(coordinator.handle(step.event) == step.action, "step \(number)")
      #expect(Self.name(coordinator.screen) == step.screen, "step \(number)")
    }
  }

  private static func name(_ screen: Screen) -> String {
    switch screen {
    case .login(nil): "login"
    case .login(.cancelled): "login after cancelling"
    case .login(.failed(let code, _)): "login after \(code)"
    case .waiting(let waiting):
      "waiting" + (waiting.showsAddress ? " at \(waiting.address ?? "")" : "")
        + (waiting.problem.map { ": \($0)" } ?? "")
        + (waiting.refusal.map { ", told: \($0)" } ?? "")
    case .login(.ended(let code, _)): "login after the end by \(code)"
    case .main(let main): name(main)
    }
  }

  private static func name(_ main: Coordinator.Main) -> String {
    let news = main.news.map { news in
      switch news.kind {
      case .refreshed: "refreshed"
      case .failed(let code, _): code
      case .notRevoked: "not revoked"
      }
    }
    let files =
      switch main.files {
      case .unread, .read([], _): ""
      case .reading: ", reading"
      case .read(let files, _): ", with \(files.count) file"
      case .failed(let code, _): ", without files for \(code)"
      }
    return "main of \(main.user ?? "nobody")"
      + (main.token == token ? "" : main.token == newer ? " with a newer token" : " with another")
      + (main.isOverAtServer ? ", over at the server" : "")
      + files + (main.isRefreshing ? ", refreshing" : "")
      + (news.isEmpty ? "" : ", told: \(news.joined(separator: " "))")
  }

  @Test func `the gRPC server is called after the files are read, and again on request`() {
    var coordinator = Coordinator(hasServerToCall: true)
    func call() -> Coordinator.Call? {
      if case .main(let main) = coordinator.screen { main.call } else { nil }
    }
    let steps: [(Event, Coordinator.Call?, Action?)] = [
      (.call, nil, nil), (.signIn(.visitor), nil, .signIn(.visitor)), (.call, nil, nil),
      (.userIsAuthorized(Self.token), .notMade, .askWhoSignedIn(Self.token)),
      (.userIsKnown("alice"), .notMade, .readFiles),
      (.filesAreRead(.read([], isAll: true)), .waiting, .call),
      (.call, .waiting, nil), (.readFiles, .waiting, .readFiles),
      (.callHasEnded(.done("it was used")), .done("it was used"), nil),
      (.filesAreRead(.read([], isAll: true)), .done("it was used"), nil),
      (.call, .waiting, .call),
      (.callHasEnded(.failed(message: "no")), .failed(message: "no"), nil),
      (.callWithBadToken, .waiting, .callWithBadToken), (.callWithBadToken, .waiting, nil),
      (.call, .waiting, nil), (.callHasEnded(.failed(message: "no")), .failed(message: "no"), nil),
      (.call, .waiting, .call), (.signOut, nil, .signOut),
      (.callHasEnded(.done("too late")), nil, nil),
    ]
    for (event, state, action) in steps {
      #expect(coordinator.handle(event) == action, "\(event)")
      #expect(call() == state, "\(event)")
    }
  }

  @Test func `the late answers for an earlier user do not reach the next user`() {
    var coordinator = Coordinator(hasServerToCall: true)
    let replaced = SQOAuthError.Code.sessionReplaced.rawValue
    let steps: [(Event, Action?)] = [
      (.userIsAuthorized(Self.token), .askWhoSignedIn(Self.token)),
      (.userIsKnown("alice"), .readFiles), (.filesAreRead(.read([], isAll: true)), .call),
      (.readFiles, .readFiles), (.signOut, .signOut),
      (.userIsAuthorized(Self.token), .askWhoSignedIn(Self.token)),
      (.callHasEnded(.done("used on behalf of alice")), nil),
      (.userIsKnown("bob"), .readFiles),
      // A failure that comes before the user's own answer may be that of the user's own request.
      (.filesAreRead(.failed(code: replaced, message: "no")), .readFiles),
      (.filesAreRead(.read([Self.file], isAll: true)), .call),
      (.filesAreRead(.failed(code: replaced, message: "no")), nil),
    ]
    for (event, action) in steps { #expect(coordinator.handle(event) == action, "\(event)") }
    guard case .main(let main) = coordinator.screen else {
      Issue.record("the main screen is not shown")
      return
    }
    #expect(main.files == .read([Self.file], isAll: true) && main.call == .waiting)
  }

  @Test func `files read before the token arrives are kept, and the gRPC call follows`() {
    var coordinator = Coordinator(hasServerToCall: true)
    let steps: [(Event, Action?)] = [
      (.readFiles, .readFiles), (.filesAreRead(.read([Self.file], isAll: true)), nil),
      (.userIsAuthorized(Self.token), .askWhoSignedIn(Self.token)), (.userIsKnown("alice"), .call),
    ]
    for (event, action) in steps { #expect(coordinator.handle(event) == action, "\(event)") }
    guard case .main(let main) = coordinator.screen else {
      Issue.record("the main screen is not shown")
      return
    }
    #expect(main.files == .read([Self.file], isAll: true) && main.call == .waiting)
  }

  @Test func `no gRPC call is made without a gRPC server`() {
    var coordinator = Coordinator()
    for (event, _, _) in Self.signedIn { _ = coordinator.handle(event) }
    #expect(coordinator.handle(.call) == nil && coordinator.handle(.callWithBadToken) == nil)
  }

  @Test func `the main screen keeps only the five newest notifications`() throws {
    var coordinator = Coordinator()
    for (event, _, _) in Self.signedIn { _ = coordinator.handle(event) }
    for number in 0..<20 {
      _ = coordinator.handle(.tokenIsRefreshed(Self.newer, at: Self.now + Double(number)))
    }
    guard case .main(let main) = coordinator.screen else {
      Issue.record("the main screen is not shown")
      return
    }
    #expect(main.news.map(\.date) == [19, 18, 17, 16, 15].map { Self.now + $0 })
  }

  @Test(
    arguments: [
      (Key.enter, Event.signIn(.browser)), (.character("s"), .signIn(.visitor)),
      (.character("q"), .quit), (.interrupt, .quit), (.character("x"), nil), (.escape, nil),
      (.character("o"), nil), (.character("r"), nil), (.character("e"), nil),
      (.character("f"), .readFiles), (.character("v"), nil),
    ] as [(Key, Event?)])
  func `keys on the login screen become events`(key: Key, event: Event?) {
    #expect(TourOnScreen.event(for: key, on: .login(notice: nil)) == event)
  }

  @Test(
    arguments: [
      (Key.enter, nil), (.character("s"), Event.playUser), (.character("a"), .showAddress),
      (.escape, .cancelSignIn), (.character("q"), .quit), (.character("o"), nil),
      (.character("f"), nil),
    ] as [(Key, Event?)])
  func `keys on the waiting screen become events`(key: Key, event: Event?) {
    #expect(TourOnScreen.event(for: key, on: .waiting(.init(player: .browser))) == event)
  }

  @Test(
    arguments: [
      (Key.enter, nil), (.character("o"), Event.signOut), (.character("q"), .quit),
      (.character("s"), nil), (.character("r"), .refresh), (.character("e"), .endSessionAtServer),
      (.character("f"), .readFiles), (.character("v"), .revoke), (.character("c"), .call),
      (.character("b"), .callWithBadToken),
    ] as [(Key, Event?)])
  func `keys on the main screen become events`(key: Key, event: Event?) {
    #expect(TourOnScreen.event(for: key, on: .main(.init(Self.token))) == event)
  }

  @Test(
    arguments: [
      (Key.character("s"), Coordinator.Screen.login(notice: nil)),
      (.character("s"), .waiting(.init(player: .browser))),
      (.character("e"), .main(.init(token))), (.character("b"), .main(.init(token))),
    ])
  func `keys that only make sense at the sandbox do nothing at another server`(
    key: Key, screen: Coordinator.Screen
  ) {
    #expect(TourOnScreen.event(for: key, on: screen, atSandbox: false) == nil)
    #expect(TourOnScreen.event(for: key, on: screen) != nil)
  }
}
