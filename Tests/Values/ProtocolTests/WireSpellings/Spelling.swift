/// The ways in which a server's message may differ from its specification.
///
/// They are the columns of the article's table. The raw values are their names there.
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
