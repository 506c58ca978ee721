import Testing

@testable import sq_demo

@Suite struct `A suggestion` {
  private static let words = [
    "--issuer", "--client-id", "--client-secret-file", "--scope", "login",
  ]

  @Test(arguments: [
    ("--isuer", "--issuer"), ("--issure", "--issuer"), ("-issuer", "--issuer"),
    ("--ISSUER", "--issuer"), ("--client", "--client-id"),
    ("--client-secret", "--client-secret-file"),
    ("lgoin", "login"), ("logon", "login"), ("--scpoe", "--scope"),
  ])
  func `is the word that differs least`(typed: String, meant: String) {
    #expect(Suggestion.nearest(to: typed, among: Self.words) == meant)
  }

  @Test(arguments: [
    "", "-", "--", "--x", "--colour", "out", "é", String(repeating: "a", count: 999),
  ])
  func `is none where every word differs in much`(typed: String) {
    #expect(Suggestion.nearest(to: typed, among: Self.words) == nil)
    #expect(Suggestion.nearest(to: typed, among: []) == nil)
  }

  @Test(arguments: [
    ("", "", 0), ("abc", "abc", 0), ("abc", "", 3), ("", "abc", 3), ("abc", "acb", 1),
    ("abc", "abd", 1), ("abc", "abcd", 1), ("kitten", "sitting", 3),
  ])
  func `counts letters to change`(one: String, other: String, distance: Int) {
    #expect(Suggestion.distance(Array(one), Array(other)) == distance)
    #expect(Suggestion.distance(Array(other), Array(one)) == distance)
  }
}
