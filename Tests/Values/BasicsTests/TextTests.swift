import SQBasics
import Testing

/// How text from other programs is cleaned, and how bytes are classified.
@Suite struct TextTests {
  @Test(arguments: [
    ("plain text, é and 漢", "plain text, é and 漢"), ("a\u{1B}[2Jb\u{7}", "a[2Jb"),
    ("one\r\ntwo\u{2028}three", "one two three"), ("one\n\n two\tthree", "one two three"),
    ("\r\none \n", "one "), ("a\u{85}\u{202E}\n\u{7}b", "a b"), ("\u{202E}gnp.exe", "gnp.exe"),
    ("", ""),
  ])
  func `printable text has no control characters`(text: String, shown: String) {
    #expect(text.printable == shown)
  }

  @Test func `a long text is cut after it is cleaned`() {
    let text = String(repeating: "a\u{0}", count: 600)
    #expect(text.printable == String(repeating: "a", count: 499) + "…")
    let short = String(repeating: "a\u{0}", count: 500)
    #expect(short.printable == String(repeating: "a", count: 500))
    #expect("a\nb".printable(atMost: 2) == "a " && "a\nb".printable(atMost: 1) == "a")
    #expect(text.printable(atMost: 2) == "aa" && text.printable(atMost: .max).count == 600)
  }

  @Test(arguments: [
    (" \t a b\t", "a b"), ("", ""), (" \t", ""), ("\u{A0}a", "\u{A0}a"), ("a\r\n", "a\r\n"),
    (" \u{301}a", "\u{301}a"),
  ])
  func `trimming removes spaces and tabs at both ends, and nothing else`(
    text: String, trimmed: String
  ) {
    #expect(text.trimmed.utf8.elementsEqual(trimmed.utf8))
    #expect(text[...].utf8.trimmed.elementsEqual(trimmed.utf8))
  }

  @Test func `bytes are classified as ASCII characters, and a byte above 0x7F has no class`() {
    for byte in UInt8.min...UInt8.max {
      let scalar = Character(Unicode.Scalar(byte))
      let isASCII = byte < 0x80
      #expect(byte.isDigit == (isASCII && scalar.isWholeNumber))
      #expect(byte.isLetter == (isASCII && scalar.isLetter))
      #expect(byte.isAlphanumeric == (byte.isDigit || byte.isLetter))
      #expect(byte.isBlank == (byte == 32 || byte == 9))
      #expect(byte.hexadecimalValue.map(Int.init) == (isASCII ? scalar.hexDigitValue : nil))
    }
  }
}
