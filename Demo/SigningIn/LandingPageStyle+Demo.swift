import SequencingOAuth

extension LandingPageStyle {
  /// The style of the page at the end of the demo's sign-ins, with the program's name.
  static let demo = LandingPageStyle(appName: "sq-demo")
}
