/// Functions that format byte counts for the user.
enum ByteCount {
  /// Returns a byte count in the largest unit that fits, such as 999 bytes or 1.5 MB.
  static func inWords(_ bytes: Int64) -> String {
    guard bytes >= 1000 else { return bytes == 1 ? "1 byte" : "\(bytes) bytes" }
    let units = ["kB", "MB", "GB", "TB", "PB", "EB"]
    var tenths = bytes / 100
    var unit = 0
    while tenths >= 10_000, unit + 1 < units.count {
      tenths /= 1000
      unit += 1
    }
    return "\(tenths / 10).\(tenths % 10) \(units[unit])"
  }
}
