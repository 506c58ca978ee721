/// An error of a program that signs in instead of a person, for example in tests.
///
/// It says whether a page ended the sign-in. The sandbox does not import the SDK, so the SDK
/// recognizes the sandbox's errors by this protocol.
package protocol SignInPageError: Error {
  /// Whether the authorization server showed a page instead of sending the user back.
  var isEndOnPage: Bool { get }
}
