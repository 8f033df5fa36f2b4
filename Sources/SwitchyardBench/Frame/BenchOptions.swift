/// The command line, checked.
struct BenchOptions: Sendable {
    var settings = BenchSettings()
    var areas: [BenchArea] = []
    var isJSON = false
    var wantsHelp = false
    var wantsList = false
    var section: String?

    init(_ arguments: [String]) throws(BenchFailure) {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--quick": settings.isQuick = true
            case "--json": isJSON = true
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
                areas.append(area)
            }
        }
        if areas.isEmpty { areas = BenchArea.all }
    }

    func includes(_ section: any BenchSection) -> Bool {
        guard let wanted = self.section else { return true }
        return section.name.contains(wanted)
    }
}
