/// The ways in which a server's message may differ from its specification.
///
/// The ways are the columns of the overview in the article `SpellingsOfServers.md`. The raw values
/// are the names of the columns.
enum Spelling: String, Sendable, CaseIterable {
  case null = "`null`"
  case empty = "empty"
  case kind = "another type"
  case list = "list or single"
  case encoding = "encoding"
  case contentType = "content type"
  case more = "more members"
  case letterCase = "letter case"
  case unneeded = "broken, not needed"
  case number = "extreme number"
  case blanks = "white space"
  case missing = "missing"
}
