/// A sample document in new drives, so that their lists of files are not empty.
struct SampleDocument: Sendable {
  let title: String
  let about: String
  let type: String
  let ageInDays: Double
  let text: String

  static let all = [
    SampleDocument(
      title: "Read me first.txt", about: "What this drive is for",
      type: "text/plain; charset=utf-8", ageInDays: 40,
      text: """
        This drive lives in the memory of a sandbox on your own computer.
        Add, rename, replace and delete what you like: it is as new at the next start.

        """),
    SampleDocument(
      title: "Family history.md", about: "What the relatives remember",
      type: "text/markdown; charset=utf-8", ageInDays: 31,
      text: """
        # Family history

        - Grandmother, maternal: lactose intolerant, lived to 94
        - Grandfather, paternal: red-green colour blind
        - Aunt Zoë: factor V Leiden, heterozygous
        - Both parents: no known carriers of *CFTR* variants

        """),
    SampleDocument(
      title: "Variants to discuss.csv", about: "For the appointment in spring",
      type: "text/csv; charset=utf-8", ageInDays: 12,
      text: """
        rsid,gene,genotype,note\r
        rs4988235,MCM6,AG,lactase persistence\r
        rs6025,F5,CC,"factor V Leiden, not carried"\r
        rs762551,CYP1A2,AC,slower with caffeine\r
        rs1815739,ACTN3,CT,one working copy\r

        """),
    SampleDocument(
      title: "Questions for the counsellor.txt", about: "Bring a pencil",
      type: "text/plain; charset=utf-8", ageInDays: 5,
      text: """
        1. Which of these findings were confirmed by a second method?
        2. What would change if my sister were tested as well?
        3. Who else can see the raw data, and for how long is it kept?

        """),
    SampleDocument(
      title: "sequencing-order.json", about: "The order of the kit", type: "application/json",
      ageInDays: 2,
      text: """
        {"kit":"saliva","coverage":30,"reference":"GRCh38","consent":{"research":false}}

        """),
  ]
}
