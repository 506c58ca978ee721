import Testing

@testable import SQBasics
@testable import SequencingOAuth

@Suite struct DurationTextTests {
  @Test(arguments: [
    (Duration.seconds(60) - .microseconds(100), "60.0 seconds"), (.seconds(59.97), "60.0 seconds"),
    (.seconds(100), "100.0 seconds"), (.seconds(1.5), "1.5 seconds"),
    (.milliseconds(2501), "2.5 seconds"), (.milliseconds(250), "0.25 seconds"),
    (.milliseconds(3), "0.003 seconds"), (.zero, "0.0 seconds"), (.seconds(-1), "0.0 seconds"),
  ])
  func `the rest of a time limit is written in rounded seconds`(time: Duration, text: String) {
    #expect(time.text == text)
  }

  @Test func `a time limit of centuries can be written without a crash`() {
    #expect(Duration.seconds(Int64.max).text.hasSuffix(" seconds"))
  }
}
