import Foundation
import SwitchyardBytes

extension JSONDecodingDocument {
    func integer<T: FixedWidthInteger>(_ type: T.Type, at place: Int) throws -> T {
        guard let value = try wideInteger(type, at: place).flatMap(T.init(exactly:)) else {
            throw corrupted("The number does not fit \(type).", at: place)
        }
        return value
    }

    /// Gives `Date`, `Data`, `JSON`, `URL` and `Decimal` special formats.
    func decode<T: Decodable>(_ type: T.Type, at place: Int) throws -> T {
        if type == Date.self, let value = try date(at: place) as? T { return value }
        if type == Data.self, let value = try data(at: place) as? T { return value }
        if type == JSON.self, let value = try json(at: place) as? T { return value }
        if type == URL.self, let value = try url(at: place) as? T { return value }
        if type == Decimal.self, let value = try decimal(at: place) as? T { return value }
        return try T(from: JSONNodeDecoder(document: self, place: place))
    }

    private func date(at place: Int) throws -> Date {
        let moment = try timestamp(Date.self, at: place)
        return Date(timeIntervalSince1970: Double(moment.seconds) + Double(moment.nanoseconds) / 1e9)
    }

    private func data(at place: Int) throws -> Data {
        let text = try string(Data.self, at: place)
        guard let bytes = Base64.decode(text.utf8) else { throw corrupted("Not base64.", at: place) }
        return Data(bytes)
    }

    private func url(at place: Int) throws -> URL {
        guard let url = URL(string: try string(URL.self, at: place)) else { throw corrupted("Not a URL.", at: place) }
        return url
    }

    private func decimal(at place: Int) throws -> Decimal {
        guard let value = Decimal(string: try literal(ofNumber: Decimal.self, at: place)) else {
            throw corrupted("The number does not fit Decimal.", at: place)
        }
        return value
    }
}
