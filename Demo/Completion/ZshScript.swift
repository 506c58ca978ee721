import SQBasics

/// The completion script for zsh.
struct ZshScript {
  let table: ShellTable

  var text: String {
    """
    #compdef sq-demo
    # Completion of sq-demo for zsh: source <(sq-demo completion zsh), or a file _sq-demo in $fpath
    _sq_demo() {
      local -a commands=(
    \(commands.joined(separator: "\n"))
      )
      local command=tour
      if [[ ${words[2]} != -* ]]; then
        if (( CURRENT == 2 )); then
          _describe -t commands command commands
          return
        fi
        command=${words[2]}
        shift words
        (( CURRENT-- ))
      fi
      case $command in
    \(table.entries.map(row).joined(separator: "\n"))
      esac
    }
    if [[ ${funcstack[1]} == _sq_demo ]]; then _sq_demo "$@"; else compdef _sq_demo sq-demo; fi
    """
  }

  private var commands: [String] {
    table.entries.map { "    \(quote($0.name + ":" + escape($0.summary, ":")))" }
  }

  /// Returns the case of a command: one specification for each option, and one for all other words.
  private func row(_ entry: ShellTable.Entry) -> String {
    var specifications = entry.options.flatMap { option in
      option.names.map { specification($0, option) }
    }
    let words = entry.words.isEmpty ? nil : "(\(entry.words.joined(separator: " ")))"
    switch (words, entry.takesFile) {
    case (let words?, true):
      specifications.append("*:word:{_alternative \"words:word:\(words)\" \"files:file:_files\"}")
    case (let words?, false): specifications.append("*:word:\(words)")
    case (nil, true): specifications.append("*:file:_files")
    case (nil, false): specifications.append("*: :")
    }
    return "    \(entry.name)) _arguments -S \(specifications.map(quote).joined(separator: " ")) ;;"
  }

  /// Returns an option in the form for `_arguments`: `--name=[hint]:value:action`.
  private func specification(_ name: String, _ option: Option) -> String {
    let start = (option.repeats ? "*" : "") + name
    let hint = "[\(escape(option.hint, "[]:"))]"
    guard let value = option.value else { return start + hint }
    let action: String =
      if option.takesFile {
        "_files"
      } else if option.choices.isEmpty {
        " "
      } else {
        "(\(option.choices.map { escape($0, ":") }.joined(separator: " ")))"
      }
    // A short option, a dash and a letter, takes no "=".
    let mark = name.hasPrefix("--") ? "=" : ""
    return "\(start)\(mark)\(hint):\(escape(value, ":")):\(action)"
  }

  private func escape(_ text: String, _ characters: String) -> String {
    String(text.flatMap { characters.contains($0) ? ["\\", $0] : [$0] })
  }

  private func quote(_ word: String) -> String {
    "'" + word.replacingScalar("'", with: #"'\''"#) + "'"
  }
}
