/// The completion script for bash.
struct BashScript {
  let table: ShellTable

  var text: String {
    """
    # Completion of sq-demo for bash: source <(sq-demo completion bash)
    _sq_demo() {
      local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words= files=
      COMPREPLY=()
      # Bash treats "=" and ":" as separate words.
      if [[ $cur == "=" ]]; then cur=
      elif [[ $prev == "=" ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}
      elif [[ $cur == ":" ]]; then cur= prev=:
      fi
      case "${COMP_WORDS[1]} $prev" in
        *" :") files=yes ;;
    \(values.joined(separator: "\n"))
        *)
          local command=${COMP_WORDS[1]} options=
          if [[ $COMP_CWORD == 1 || $command == -* ]]; then command=; fi
          case $command in
    \(commands.joined(separator: "\n"))
          esac
          if [[ $cur == -* ]]; then words=$options files=; fi
          ;;
      esac
      COMPREPLY=($(compgen -W "$words" -- "$cur"))
      if [[ $files ]]; then
        compopt -o filenames
        mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$cur")
      elif [[ ${COMPREPLY[0]} == *: ]]; then
        compopt -o nospace
      fi
    }
    complete -F _sq_demo sq-demo
    """
  }

  /// The cases for the word after an option: known words, a file, or any text.
  ///
  /// A case for a single command comes before the cases for all commands.
  private var values: [String] {
    table.specialOptions.map { value(of: $1, in: $0) }
      + table.optionsWithValues.map { value(of: $0, in: "*") }
  }

  private func value(of option: Option, in command: String) -> String {
    let names = option.names.map { "\(command)\" \($0)\"" }.joined(separator: "|")
    if option.takesFile { return "    \(names)) files=yes ;;" }
    guard !option.choices.isEmpty else { return "    \(names)) return ;;" }
    return "    \(names)) words=\(quote(option.choices)) ;;"
  }

  /// The cases for each command; the first case is for a command line that has no command yet.
  private var commands: [String] {
    let first = table.entries.map(\.name)
    let tour = table.entries.first?.options ?? []
    let start = row("''", first, files: false, tour)
    return [start]
      + table.entries.map { row($0.name, $0.words, files: $0.takesFile, $0.options) }
  }

  private func row(_ name: String, _ words: [String], files: Bool, _ options: [Option]) -> String {
    "        \(name)) words=\(quote(words)) files=\(files ? "yes" : "") "
      + "options=\(quote(options.flatMap(\.names))) ;;"
  }

  private func quote(_ words: [String]) -> String { "'\(words.joined(separator: " "))'" }
}
