import Foundation

/// `switchyard-bench`: measures all published figures on this machine.
@main
enum BenchCommand {
    static let usage = """
        usage: switchyard-bench [AREA ...] [--quick] [--json] [--html FILE] [--section NAME] [--list] [--help]

        AREA is one of \(BenchArea.all.map(\.name).joined(separator: ", ")), or all (the default).

          --quick          fewer and smaller rounds, below a minute for an area: shows that everything runs, is no measurement
          --json           one JSON document instead of the table, with the machine and the sections in its head
          --html FILE      also a page with charts, in one file
          --beside FILE    on that page an earlier run, from what --json printed
          --section NAME   only the sections whose name contains NAME
          --list           names the sections and runs nothing
          --help           this text

        A mark is printed beside its figure, met or MISSED; figures without one are context, such as another contender's. A
        quick run is too short to say that a mark is missed: it calls it unmeasured.
        Contenders take turns within one run, and each figure is the median of its rounds. Exit status: 0 when every mark
        is met, 1 when one is missed, 2 when a section failed or the arguments are wrong.
        """

    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.first == ChildProcess.flag {
            await ChildProcess.serve(Array(arguments.dropFirst()))
            return
        }
        do {
            let options = try BenchOptions(arguments)
            if options.wantsHelp { return print(usage) }
            if options.wantsList { return list(options) }
            // Read first, so that a mistake shows before everything was measured.
            let earlier = try options.earlier.map { try BenchReport(contentsOf: $0) }
            let report = await BenchRunner(options).run()
            if let file = options.page {
                try Data(BenchPage(report: report, earlier: earlier).html.utf8).write(to: URL(fileURLWithPath: file))
            }
            print(options.isJSON ? report.json : report.summary)
            exit(report.status)
        } catch {
            FileHandle.standardError.write(Data("\(error)\n\n\(usage)\n".utf8))
            exit(2)
        }
    }

    private static func list(_ options: BenchOptions) {
        for area in options.areas {
            for section in area.sections where options.includes(section) { print("\(area.name)\t\(section.name)") }
        }
    }
}
