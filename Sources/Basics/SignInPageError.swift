/// An error of a program that plays the user, which may say that a page was the end of a sign-in.
///
/// The sandbox does not import the SDK, so the SDK knows the sandbox's error by this protocol.
package protocol SignInPageError: Error {
  /// Whether the authorization server has shown a page instead of sending the user back.
  var isEndOnPage: Bool { get }
}
