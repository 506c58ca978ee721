/// The command `explain`: prints what an error code means and what to do.
struct Explain: Command {
  /// The placeholder for the error code in the help.
  static let operand = "CODE"

  static let name = "explain"
  static let summary = "Say what an error code means, and what to do."
  static let details = """
    CODE is the word after 'error:', such as invalid_grant. Without it the command prints
    the whole article, which begins with what users see when something goes wrong.

    The text is the article "Troubleshooting" of the documentation,
    Sources/SequencingOAuth/SequencingOAuth.docc/Troubleshooting.md. It has the codes that
    the SDK knows; the command also knows those of this program. What another code means,
    only the server's documentation says.

    Examples: 'sq-demo explain invalid_grant'; 'sq-demo explain | less'.
    """
  static let forms = [Form(operands: [operand], optional: operand)]
  static let options: [Option] = []

  private let text: String

  init(_ arguments: Arguments) throws(Failure) {
    let article = Article.troubleshooting
    guard let code = arguments.operands.first else {
      text = article.text(width: TextLayout.width)
      return
    }
    guard let section = article.explanation(of: code) ?? ProgramCodes.explanation(of: code) else {
      throw .usage(
        "nothing explains the code \"\(code.onScreen)\""
          + Suggestion.question(code, among: article.codes + ProgramCodes.all)
      ).withHint("What a server's own code means, only the server's documentation says.")
    }
    text = section.text(width: TextLayout.width)
  }

  func run(_ console: Console) async throws(Failure) {
    try console.result(text)
  }
}
