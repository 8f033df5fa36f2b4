import Switchyard
import SwitchyardBytes
import SwitchyardFirestoreFormat

/// The outcome of a call that answers with a list.
enum ListAnswer<Element: Sendable>: Sendable {
    case elements([Element])
    case refused(FirestoreFailure)
    case unreadable(StorageError)
}

/// Decodes the elements of a list from the pieces of its text.
struct ListReader<Element: Sendable> {
    typealias Decode = @Sendable (JSON) throws(FirestoreFormatError) -> Element

    private var list = JSONStream(.elements, options: FirestoreService.parsing)
    private var elements: [Element] = []
    private let decode: Decode

    init(_ decode: @escaping Decode) { self.decode = decode }

    /// The outcome, if it is already known because the answer is not a list of elements.
    mutating func take(_ bytes: [UInt8]) -> ListAnswer<Element>? {
        list.append(bytes)
        return decodeAll()
    }

    mutating func finish() -> ListAnswer<Element> {
        list.finish()
        return decodeAll() ?? .elements(elements)
    }

    private mutating func decodeAll() -> ListAnswer<Element>? {
        do {
            while let json = try list.next() {
                // An error can follow some elements, which are then discarded.
                if let error = json["error"] { return .refused(FirestoreFailure(error: error, ifUnknown: .unknown)) }
                elements.append(try decode(json))
            }
            return nil
        } catch let error as FirestoreFormatError {
            return .unreadable(StorageError(error))
        } catch {
            return .unreadable(StorageError(.unavailable, "The server's response was cut short.", underlying: error))
        }
    }
}
