import SQBasics
import Testing

@testable import sq_demo

@Suite struct `Splitting a command into words` {
  @Test(arguments: [
    ("", []),
    ("  \t\n ", []),
    ("firefox", ["firefox"]),
    ("  firefox   --new-window\t-P  ", ["firefox", "--new-window", "-P"]),
    ("'my browser' -x", ["my browser", "-x"]),
    ("\"my browser\" -x", ["my browser", "-x"]),
    ("my\\ browser", ["my browser"]),
    ("a''b\"\"c", ["abc"]),
    ("'' \"\"", ["", ""]),
    ("sh -c 'curl \"$1\" > /dev/null' --", ["sh", "-c", "curl \"$1\" > /dev/null", "--"]),
    (#"'back\slash'"#, [#"back\slash"#]),
    (#""\$HOME \` \" \\ \n""#, [#"$HOME ` " \ \n"#]),
    ("a\\\nb \"c\\\nd\"", ["ab", "cd"]),
    ("$HOME ~ * `ls` ; | & #", ["$HOME", "~", "*", "`ls`", ";", "|", "&", "#"]),
    ("'\u{301}'", ["\u{301}"]),
    ("é'ü'", ["éü"]),
  ])
  func `a text splits into words as in a shell`(text: String, words: [String]) {
    #expect(ShellWords.split(text) == words)
  }

  /// A quote and the mark after it, or the letter before it, form one Character.
  @Test(arguments: [
    "me@home-1.x", "my work", "it's", "", "a\"b$c", "é", "--x", "it'\u{301}s; id #", "\u{D4E}'; id",
  ])
  func `splitting undoes quoting, and plain words are not quoted`(word: String) {
    #expect(ShellWords.split(ShellWords.quote(word)) == [word])
    #expect((ShellWords.quote(word) == word) == ["me@home-1.x", "--x"].contains(word))
  }

  @Test(arguments: ["'", "\"", "a 'b", "a \"b", "\"a\\", "a\\", "'a\\'b'", "\"a\\\""])
  func `a text with an open quote or a final backslash is rejected`(text: String) {
    #expect(ShellWords.split(text) == nil)
  }
}
