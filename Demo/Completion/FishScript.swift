import SQBasics

/// The completion script for fish.
struct FishScript {
  let table: ShellTable

  var text: String {
    """
    # Completion of sq-demo for fish: sq-demo completion fish | source
    function __sq_demo_in
        set -l words (commandline -opc)
        set -l command tour
        if set -q words[2]; and not string match -q -- '-*' $words[2]
            set command $words[2]
        end
        contains -- $command $argv
    end
    function __sq_demo_first
        test (count (commandline -opc)) = 1
    end
    complete -c sq-demo -f
    \(commands.joined(separator: "\n"))
    \(options.joined(separator: "\n"))
    """
  }

  private var commands: [String] {
    table.entries.flatMap { entry -> [String] in
      let start =
        "complete -c sq-demo -n __sq_demo_first -a \(entry.name) -d \(quote(entry.summary))"
      let condition = quote("__sq_demo_in \(entry.name); and not __sq_demo_first")
      let words =
        entry.words.isEmpty
        ? nil
        : "complete -c sq-demo -n \(condition) -a \(quote(entry.words.joined(separator: " ")))"
      let files = entry.takesFile ? "complete -c sq-demo -n \(condition) -F" : nil
      return [start, words, files].compactMap(\.self)
    }
  }

  /// The lines for all options, each option once with the commands that have it.
  private var options: [String] {
    var seen: Set<Option> = []
    return table.entries.flatMap(\.options).filter { seen.insert($0).inserted }.map { option in
      let takers = table.entries.filter { $0.options.contains(option) }.map(\.name)
      let short = option.short.map { " -s \($0.dropFirst())" } ?? ""
      return "complete -c sq-demo -n \(quote("__sq_demo_in " + takers.joined(separator: " ")))"
        + " -l \(option.name.dropFirst(2))\(short)\(value(of: option)) -d \(quote(option.hint))"
    }
  }

  private func value(of option: Option) -> String {
    guard option.value != nil else { return "" }
    if option.takesFile { return " -r -F" }
    return option.choices.isEmpty
      ? " -x" : " -x -a \(quote(option.choices.joined(separator: " ")))"
  }

  private func quote(_ text: String) -> String {
    "'" + text.replacingScalar("\\", with: "\\\\").replacingScalar("'", with: "\\'") + "'"
  }
}
