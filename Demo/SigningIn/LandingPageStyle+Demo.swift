import SequencingOAuth

extension LandingPageStyle {
  /// The page at the end of the demo's sign-ins, which names the program to return to.
  static let demo = LandingPageStyle(appName: "sq-demo")
}
