import Foundation

/// Returns all texts that a program can make of a value, and of the value's parts, if it does not
/// know their types.
func everyText(of value: Any) -> String {
  var texts = [String(describing: value), String(reflecting: value), "\(value)"]
  var dumped = ""
  dump(value, to: &dumped)
  // The text that a debugger's `po` prints.
  texts += [dumped, _stringForPrintObject(value)]
  if let value = value as? any CustomStringConvertible { texts.append(value.description) }
  if let value = value as? any CustomDebugStringConvertible {
    texts.append(value.debugDescription)
  }
  texts.append(mirrored(value, depth: 0))
  if let error = value as? any Error { texts.append("\(error.localizedDescription)") }
  return texts.joined(separator: "\n")
}

private func mirrored(_ value: Any, depth: Int) -> String {
  guard depth < 12 else { return "" }
  let mirror = Mirror(reflecting: value)
  var texts = [String(reflecting: value), String(describing: value)]
  for child in mirror.children {
    texts.append("\(child.label ?? ""): \(mirrored(child.value, depth: depth + 1))")
  }
  if let parent = mirror.superclassMirror {
    texts += parent.children.map { mirrored($0.value, depth: depth + 1) }
  }
  return texts.joined(separator: "\n")
}
