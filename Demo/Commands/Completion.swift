/// The command `completion`: prints a script that completes commands and options in a shell.
struct Completion: Command {
  enum Shell: String, CaseIterable {
    case bash
    case zsh
    case fish
  }

  /// The placeholder for the shell's name in the help.
  static let operand = "bash|zsh|fish"

  static let name = "completion"
  static let summary = "Print a script that lets your shell complete commands."
  static let details = """
    For the shell that is running, if sq-demo is in PATH:

    bash: source <(sq-demo completion bash)

    zsh: source <(sq-demo completion zsh)

    fish: sq-demo completion fish | source

    To have it in every shell, put the line into ~/.bashrc, into ~/.zshrc below compinit,
    or into ~/.config/fish/config.fish.
    """
  static let forms = [Form(operands: [operand])]
  static let options: [Option] = []

  private let shell: Shell

  init(_ arguments: Arguments) throws(Failure) {
    let name = arguments.operands[0]
    guard let shell = Shell(rawValue: name) else {
      throw .usage(
        "there is completion for bash, zsh and fish, not for \"\(name.onScreen)\""
          + Suggestion.question(name, among: Shell.allCases.map(\.rawValue)))
    }
    self.shell = shell
  }

  func run(_ console: Console) async throws(Failure) {
    let table = ShellTable(SQDemo.commands)
    let script =
      switch shell {
      case .bash: BashScript(table: table).text
      case .zsh: ZshScript(table: table).text
      case .fish: FishScript(table: table).text
      }
    try console.result(script)
  }
}
