import Foundation
import SwitchyardBytes

/// The folder of published test data that `SWITCHYARD_SPEC_DATA` names. The data is not part of this repository.
enum SpecData {
    static let folder: URL? = ProcessInfo.processInfo.environment["SWITCHYARD_SPEC_DATA"].map {
        URL(fileURLWithPath: $0, isDirectory: true)
    }

    static let absence = "SWITCHYARD_SPEC_DATA names no folder of test data: NOT RUN"

    /// Every JSON file of a folder by its name without the ending, sorted. Whatever is there is taken.
    static func files(in name: String) throws -> [(name: String, json: JSON)] {
        guard let folder = folder?.appendingPathComponent(name, isDirectory: true) else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".json") }
            .sorted()
            .map { file in
                let data = try Data(contentsOf: folder.appendingPathComponent(file))
                return (String(file.dropLast(5)), try JSON(parsing: data))
            }
    }
}
