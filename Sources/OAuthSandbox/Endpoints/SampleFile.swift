/// A sample genome file, listed like the files of Sequencing.com's `DataSourceList`.
struct SampleFile: Sendable {
  let id: String
  let name: String
  let kind: String
  let bytes: Int
  let person: String
  let about: String
  let population: String
  let sex: String

  static let all = [
    SampleFile(
      id: "227680", name: "ada-lovelace.vcf", kind: "Whole genome", bytes: 187_402_113,
      person: "Ada Lovelace", about: "Mathematician; her genome at 30x, aligned to GRCh37",
      population: "European", sex: "Female"),
    SampleFile(
      id: "227681", name: "gregor-mendel.txt", kind: "Genotyping array", bytes: 24_871_560,
      person: "Gregor Mendel", about: "Friar and botanist; 960,613 markers",
      population: "European", sex: "Male"),
    SampleFile(
      id: "227684", name: "rosalind-franklin.vcf.gz", kind: "Whole genome", bytes: 1_204_338_921,
      person: "Rosalind Franklin", about: "Chemist; whole genome at 40x, GRCh38",
      population: "European", sex: "Female"),
    SampleFile(
      id: "227690", name: "srinivasa-ramanujan.txt", kind: "Genotyping array", bytes: 15_920_344,
      person: "Srinivasa Ramanujan", about: "Mathematician; 638,531 markers",
      population: "South Asian", sex: "Male"),
    SampleFile(
      id: "227693", name: "wangari-maathai.vcf.gz", kind: "Exome", bytes: 96_554_201,
      person: "Wangari Maathai", about: "Biologist; exome at 100x, GRCh38",
      population: "African", sex: "Female"),
    SampleFile(
      id: "227701", name: "tu-youyou.bam", kind: "Aligned reads", bytes: 48_113_907_552,
      person: "Tu Youyou", about: "Pharmacologist; aligned reads, GRCh38",
      population: "East Asian", sex: "Female"),
  ]

  var json: SandboxJSON {
    [
      "Id": .string(id),
      "Name": .string(name),
      "Ext": .string(name.split(separator: ".", maxSplits: 1).last.map(String.init) ?? ""),
      "FileType": "Sample",
      "FileCategory": .string(kind),
      "FriendlyDesc1": .string(person),
      "FriendlyDesc2": .string(about),
      "Population": .string(population),
      "Sex": .string(sex),
      "Size": .integer(bytes),
      "DateAdded": "2016-05-18 09:30:00",
    ]
  }
}
