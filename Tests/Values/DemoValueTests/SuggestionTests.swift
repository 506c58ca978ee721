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
  func `the most similar word is suggested`(typed: String, meant: String) {
    #expect(Suggestion.nearest(to: typed, among: Self.words) == meant)
  }

  @Test(arguments: [
    "", "-", "--", "--x", "--colour", "out", "é", String(repeating: "a", count: 999),
  ])
  func `no word is suggested if all of them are too different`(typed: String) {
    #expect(Suggestion.nearest(to: typed, among: Self.words) == nil)
    #expect(Suggestion.nearest(to: typed, among: []) == nil)
  }

  @Test(arguments: [
    ("", "", 0), ("abc", "abc", 0), ("abc", "", 3), ("", "abc", 3), ("abc", "acb", 1),
    ("abc", "abd", 1), ("abc", "abcd", 1), ("kitten", "sitting", 3),
  ])
  func `the distance between two words counts the letters to change`(
    one: String, other: String, distance: Int
  ) {
    #expect(Suggestion.distance(Array(one), Array(other)) == distance)
    #expect(Suggestion.distance(Array(other), Array(one)) == distance)
  }
}
