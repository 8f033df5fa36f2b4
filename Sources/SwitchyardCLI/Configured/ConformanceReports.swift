import SwitchyardConformance

/// The report as most build servers read it.
enum JUnitReport {
    static func xml(_ report: ConformanceReport, name: String) -> String {
        var lines = [
            #"<?xml version="1.0" encoding="UTF-8"?>"#,
            #"<testsuites name="\#(Markup.escaped(name))" tests="\#(report.entries.count)" failures="\#(report.failed)" "#
                + #"skipped="\#(report.skipped)" time="\#(seconds(report))">"#,
        ]
        for service in ConformanceService.allCases {
            let own = ConformanceReport(report.entries.filter { $0.service == service })
            guard !own.entries.isEmpty else { continue }
            lines.append(
                #"  <testsuite name="\#(service.rawValue)" tests="\#(own.entries.count)" failures="\#(own.failed)" "#
                    + #"skipped="\#(own.skipped)" time="\#(seconds(own))">"#)
            lines += own.entries.map(testCase)
            lines.append("  </testsuite>")
        }
        return (lines + ["</testsuites>", ""]).joined(separator: "\n")
    }

    private static func testCase(_ entry: ConformanceReport.Entry) -> String {
        let head =
            #"    <testcase classname="\#(Markup.escaped("\(entry.service.rawValue).\(entry.area)"))" "#
            + #"name="\#(Markup.escaped(entry.name))" time="\#(entry.milliseconds / 1000)""#
        switch entry.outcome {
        case .passed: return head + "/>"
        case .failed: return head + "><failure>\(Markup.escaped(entry.detail ?? ""))</failure></testcase>"
        case .skipped:
            let reason = [entry.detail, entry.remedy.map { "needs \($0)" }].compactMap { $0 }.joined(separator: ", ")
            return head + #"><skipped message="\#(Markup.escaped(reason))"/></testcase>"#
        }
    }

    private static func seconds(_ report: ConformanceReport) -> Double {
        report.entries.reduce(0) { $0 + $1.milliseconds } / 1000
    }
}

/// The report as a page that needs nothing else.
enum HTMLReport {
    static func page(_ report: ConformanceReport, name: String) -> String {
        let services = ConformanceService.allCases.filter { service in
            report.entries.contains { $0.service == service }
        }
        return """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width">
            <title>Conformance of \(Markup.escaped(name)): \(report.summary)</title>
            <style>
            body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 60em; padding: 0 1em; color-scheme: light dark }
            table { border-collapse: collapse; width: 100% }
            td, th { padding: .2em .6em; text-align: left; vertical-align: top; border-bottom: 1px solid #8884 }
            .passed { color: #188038 } .failed { color: #d93025; font-weight: 600 } .skipped { color: #80868b }
            summary { font-size: 1.1em; cursor: pointer; margin: .6em 0 } pre { white-space: pre-wrap; margin: 0 }
            </style>
            </head>
            <body>
            <h1>Conformance of \(Markup.escaped(name))</h1>
            <p>\(report.summary)</p>
            \(services.map { section($0, report) }.joined(separator: "\n"))
            </body>
            </html>

            """
    }

    private static func section(_ service: ConformanceService, _ report: ConformanceReport) -> String {
        let own = ConformanceReport(report.entries.filter { $0.service == service })
        let rows = own.entries.map { entry in
            let detail = [entry.detail, entry.remedy.map { "needs \($0)" }].compactMap { $0 }.joined(separator: ", ")
            return """
                <tr><td>\(Markup.escaped(entry.area))</td><td>\(Markup.escaped(entry.name))\
                \(detail.isEmpty ? "" : "<pre>\(Markup.escaped(detail))</pre>")</td>\
                <td class="\(entry.outcome.rawValue)">\(entry.outcome.rawValue)</td><td>\(Int(entry.milliseconds)) ms</td></tr>
                """
        }
        return """
            <details\(own.failed > 0 ? " open" : "")>
            <summary>\(service.rawValue): \(own.summary)</summary>
            <table>
            <tr><th>area</th><th>check</th><th>outcome</th><th>time</th></tr>
            \(rows.joined(separator: "\n"))
            </table>
            </details>
            """
    }
}

/// Text in XML and HTML.
enum Markup {
    static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            // XML has no other control characters, not even escaped ones.
            case "\n", "\t", "\r": result.unicodeScalars.append(scalar)
            case _ where scalar.value < 0x20 || scalar.value == 0xFFFE || scalar.value == 0xFFFF:
                result += "\u{FFFD}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
