import SQBasics
import SQFoundation

extension ClientEvent: CustomStringConvertible {
  /// The event as a line for a log, without its operation's number and its account.
  public var description: String {
    switch phase {
    case .begin: "begin: \(subject.words)"
    case .moment: subject.words
    case .end(let duration, nil): "end: \(subject.words), after \(duration.milliseconds)"
    case .end(let duration, let error?):
      "end: \(subject.words), after \(duration.milliseconds): \(error.rawValue.printable)"
    }
  }
}

extension ClientEvent.Subject {
  fileprivate var words: String {
    switch self {
    case .signIn(let way): way.words
    case .request(let request): request.words
    case .refresh(let refresh): refresh.words
    case .leaseWait(let holder):
      "wait for the account" + (holder.map { ", used by \($0.printable)" } ?? "")
    case .store(let call): "store: \(call.rawValue)"
    case .pageOpened: "the browser gets the page"
    case .codeShown: "the user has a code"
    case .redirectAccepted: "the redirect was accepted"
    case .redirectRefused(let reason): "a redirect was refused: \(reason.words)"
    case .takenOver: "another process refreshed the token"
    case .replaced: "another process signed a user in"
    case .backOff(let pause, let code):
      "the next request waits for \(pause.text), after \(code.rawValue.printable)"
    case .endsSoon(let date): "the sign-in ends at \(date.formatted(.iso8601))"
    case .ended(let end): "the session has ended: \(end.rawValue)"
    case .lost(let count): "\(count) events are lost"
    }
  }
}

extension ClientEvent.SignInWay {
  fileprivate var words: String {
    switch self {
    case .browser(isSilent: false): "sign-in in a browser"
    case .browser(isSilent: true): "sign-in in a browser without a question"
    case .webApplication: "sign-in in a web application"
    case .otherDevice: "sign-in on another device"
    case .grant(let type): "sign-in by \(type.printable)"
    }
  }
}

extension ClientEvent.Request {
  fileprivate var words: String {
    var words = "\(method) \(server), \(purpose.words)"
    if attempt > 1 { words += ", attempt \(attempt)" }
    if let tokenLife { words += ", token valid for \(tokenLife.text)" }
    if let status { words += ": \(status)" }
    if let retryAfter { words += ", retry after \(retryAfter.text)" }
    return words
  }
}

extension ClientEvent.Request.Purpose {
  fileprivate var words: String {
    switch self {
    case .serverMetadata: "server metadata"
    case .resourceMetadata: "resource metadata"
    case .keys: "keys"
    case .registration: "registration"
    case .pushedAuthorization: "pushed authorization request"
    case .deviceAuthorization: "device authorization"
    case .token(let type): "token by \(type.printable)"
    case .userInfo: "user info"
    case .revocation: "revocation"
    case .introspection: "introspection"
    case .resource: "resource"
    }
  }
}

extension ClientEvent.Refresh {
  fileprivate var words: String {
    let cause =
      switch reason {
      case .timer: "refresh before the token expires"
      case .caller: "refresh of an expired token"
      case .refusal: "refresh of a refused token"
      case .app: "refresh for the app"
      case .keeper: "refresh by a keeper"
      case .narrowing: "token for a part of the rights"
      }
    let waited = callers.map { $0 == 0 ? "" : $0 == 1 ? " for 1 caller" : " for \($0) callers" }
    return cause + (waited ?? "") + (result == .takenOver ? ", from another process" : "")
  }
}

extension ClientEvent.RedirectRefusal {
  fileprivate var words: String {
    switch self {
    case .foreignAddress: "it has another address"
    case .wrongState: "it has no state or a wrong one, or cannot be read"
    case .tooLate: "the sign-in has had another response, or is over"
    }
  }
}

extension Duration {
  /// The duration in whole milliseconds, or as text if it is ten seconds or longer.
  fileprivate var milliseconds: String {
    self < .seconds(10) ? "\(Int((self / .milliseconds(1)).rounded())) ms" : text
  }
}
