/// The validated command line.
struct BenchOptions: Sendable {
    var settings = BenchSettings()
    var areas: [BenchArea] = []
    var isJSON = false
    /// Where a page with charts is written, and the earlier run beside which it shows this one.
    var page: String?
    var earlier: String?
    var wantsHelp = false
    var wantsList = false
    var section: String?

    init(_ arguments: [String]) throws(BenchFailure) {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--quick": settings.isQuick = true
            case "--json": isJSON = true
            case "--html":
                guard let file = rest.popFirst() else { throw BenchFailure("--html needs the name of a file") }
                page = file
            case "--beside":
                guard let file = rest.popFirst() else { throw BenchFailure("--beside needs the name of a file") }
                earlier = file
            case "--list": wantsList = true
            case "--help", "-h", "help": wantsHelp = true
            case "--section":
                guard let name = rest.popFirst() else { throw BenchFailure("--section needs a name") }
                section = name
            case "all": areas = BenchArea.all
            default:
                guard let area = BenchArea.all.first(where: { $0.name == argument }) else {
                    throw BenchFailure("unknown argument: \(argument)")
                }
                if !areas.contains(where: { $0.name == area.name }) { areas.append(area) }
            }
        }
        guard earlier == nil || page != nil else { throw BenchFailure("--beside goes with --html") }
        if areas.isEmpty { areas = BenchArea.all }
        if let section, !areas.contains(where: { $0.sections.contains(where: includes) }) {
            throw BenchFailure("no section is called \(section); --list names them")
        }
    }

    func includes(_ section: any BenchSection) -> Bool {
        guard let wanted = self.section else { return true }
        return section.name.contains(wanted)
    }
}
