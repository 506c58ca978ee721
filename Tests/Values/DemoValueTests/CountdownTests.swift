import Testing

@testable import sq_demo

@Suite struct `The screen of a code` {
  @Test(arguments: [
    (80, "Waiting for you, 4:59 left. Ctrl-C cancels."),
    (44, "Waiting for you, 4:59 left. Ctrl-C cancels."), (43, "4:59 left. Ctrl-C cancels."),
    (20, "4:59 left"), (9, "4:59"), (4, "4"), (1, ""),
  ])
  func `the remaining time is shortened to fit the terminal's width`(columns: Int, text: String) {
    #expect(DeviceCodeScreen.countdown(299, columns: columns) == text)
  }
}
