import SQBasics
import SQLoopback
import SQLoopbackPages

extension LandingPage {
  /// Returns the page as an HTTP response that must not be cached and loads nothing.
  func response(in style: LandingPageStyle) -> LoopbackResponse {
    let name = style.shownName
    return LoopbackPage(
      title: name.map { "\(heading) · \($0)" }, mark: mark, heading: heading,
      paragraphs: ["\(text(for: name))"], brand: name.map { .app($0) }, theme: style.theme
    ).response(status: status, formTargets: [], closesConnection: true)
  }

  private var mark: LoopbackPage.Mark {
    switch self {
    case .signedIn, .loggedOut: .success
    case .denied, .failed, .wrongState, .tooLarge: .failure
    case .underWay, .tooLate, .notFound: .neutral
    }
  }

  private var status: Int {
    switch self {
    case .signedIn, .loggedOut, .underWay, .denied, .failed: 200
    case .wrongState, .tooLate: 400
    case .notFound: 404
    case .tooLarge(let status): status
    }
  }

  // U+2011 is a hyphen without a line break after it, for narrow windows.
  private var heading: String {
    switch self {
    case .signedIn: "You are signed in"
    case .loggedOut: "You are signed out"
    case .underWay: "Almost done"
    case .denied: "You were not signed in"
    case .failed: "The sign\u{2011}in failed"
    case .wrongState: "This is not the answer we wait for"
    case .tooLate: "This sign\u{2011}in is over"
    case .notFound: "There is nothing here"
    case .tooLarge: "Your browser sent too much"
    }
  }

  /// Returns the text of the page, including the app's name.
  private func text(for name: String?) -> String {
    // The isolates prevent a right-to-left name from reordering the surrounding words.
    let app = name.map { "\u{2068}\($0)\u{2069}" }
    let theApp = app ?? "the app"
    return switch self {
    case .signedIn, .loggedOut: "You can close this window and go back to \(theApp)."
    case .underWay:
      "\(app ?? "The app") does the rest. You can close this window and go back to it."
    case .denied: "Access was denied. You can close this window and go back to \(theApp)."
    case .failed(let code):
      Self.explanation(of: code, app) + " You can close this window; \(theApp) has the details."
    case .wrongState:
      "The page that sent you here answered another sign\u{2011}in than the one that \(theApp) "
        + "started, so \(theApp) ignores it. If that was not you, close this window."
    case .tooLate:
      "It has ended already, or it took too long. Start it again from \(theApp)."
    case .notFound: "This address only receives the end of a sign\u{2011}in or sign\u{2011}out."
    case .tooLarge:
      "The answer was too large to read, probably because of cookies of other programs on this "
        + "machine. Start again from \(theApp) and use a private window, or delete the cookies of "
        + "this address."
    }
  }

  /// Returns an explanation of an error; it is specific if the user can do something about it.
  private static func explanation(of code: SQOAuthError.Code, _ app: String?) -> String {
    let start = app ?? "The app"
    return switch code {
    case .issuerMismatch, .invalidAuthorizationResponse:
      "The answer was not what the app's server sends, so it was refused."
    case .serverError, .temporarilyUnavailable:
      "The server had a problem. Try again in a moment."
    case .connectionFailed, .requestTimedOut, .tlsFailed:
      "\(start) could not reach the server. Check the network and try again."
    case .storeFailed:
      "You were signed in, but \(app ?? "the app") could not save the sign\u{2011}in."
    case .insufficientScope:
      "\(start) needs more than you allowed."
    default:
      "\(start) could not complete the sign\u{2011}in with the server."
    }
  }
}
