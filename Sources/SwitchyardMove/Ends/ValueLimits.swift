public import Switchyard
import SwitchyardBytes

/// The values that an end cannot hold as they are.
public struct ValueLimits: Sendable, Hashable {
    /// The smallest difference of two timestamps, in nanoseconds; what is finer is cut off.
    public var timestampStep: Int32 = 1
    /// Whether text can contain U+0000.
    public var allowsZeroCharacter = true

    public init() {}

    /// What is known of the vendors.
    public init(of provider: InfrastructureProvider) {
        switch provider.rawValue {
        case "firebase": timestampStep = 1000
        case "supabase": allowsZeroCharacter = false
        default: break
        }
    }

    /// The data as the end returns it after a write.
    func stored(_ data: DocumentData) -> DocumentData {
        timestampStep == 1
            ? data : DocumentData(inOrder: data.entries.map { .init(name: $0.name, value: stored($0.value)) })
    }

    private func stored(_ value: DocumentValue) -> DocumentValue {
        switch value {
        case .timestamp(let time): .timestamp(stored(time))
        case .array(let elements): .array(elements.map(stored))
        case .map(let data): .map(stored(data))
        default: value
        }
    }

    private func stored(_ time: Timestamp) -> Timestamp {
        Timestamp(clampingSeconds: time.seconds, nanoseconds: time.nanoseconds / timestampStep * timestampStep)
    }

    /// The fields of a document that the end cannot hold as they are.
    func problems(in document: DocumentSnapshot) -> [ValueProblem] {
        guard let data = document.data else { return [] }
        var problems: [ValueProblem] = []
        do throws(StorageError) {
            _ = try DocumentWrite.set(document.path, data: data)
        } catch {
            problems.append(ValueProblem(path: document.path.description, field: nil, reason: error.message))
        }
        guard timestampStep > 1 || !allowsZeroCharacter else { return problems }
        find(.map(data), at: []) { field, reason in
            problems.append(ValueProblem(path: document.path.description, field: field, reason: reason))
        }
        return problems
    }

    private func find(_ value: DocumentValue, at names: [String], _ report: (String, String) -> Void) {
        switch value {
        case .timestamp(let time) where time.nanoseconds % timestampStep != 0:
            report(names.joined(separator: "."), "The timestamp is cut off to \(timestampStep / 1000) µs.")
        case .string(let text) where !allowsZeroCharacter && text.utf8.contains(0):
            report(names.joined(separator: "."), "The text contains U+0000.")
        case .array(let elements):
            for (index, element) in elements.enumerated() { find(element, at: names + ["\(index)"], report) }
        case .map(let data):
            for (name, value) in data {
                if !allowsZeroCharacter, name.utf8.contains(0) {
                    report((names + [name]).joined(separator: "."), "The field's name contains U+0000.")
                }
                find(value, at: names + [name], report)
            }
        default: break
        }
    }
}

/// A value that the other end cannot hold as it is.
public struct ValueProblem: Sendable, Hashable, Codable {
    public var path: String
    /// The names of the field and of the maps around it, separated by dots; `nil` for the document as a whole.
    public var field: String?
    public var reason: String
}
