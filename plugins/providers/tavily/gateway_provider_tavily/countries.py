"""The vendor's names of countries, by their codes (ISO 3166-1 alpha-2).

https://docs.tavily.com/documentation/api-reference/endpoint/search#body-country
"""

from collections.abc import Mapping

NAMES: Mapping[str, str] = {
    "ar": "argentina",
    "at": "austria",
    "au": "australia",
    "be": "belgium",
    "bg": "bulgaria",
    "br": "brazil",
    "ca": "canada",
    "ch": "switzerland",
    "cl": "chile",
    "cn": "china",
    "co": "colombia",
    "cz": "czech republic",
    "de": "germany",
    "dk": "denmark",
    "ee": "estonia",
    "eg": "egypt",
    "es": "spain",
    "fi": "finland",
    "fr": "france",
    "gb": "united kingdom",
    "gr": "greece",
    "hr": "croatia",
    "hu": "hungary",
    "id": "indonesia",
    "ie": "ireland",
    "il": "israel",
    "in": "india",
    "is": "iceland",
    "it": "italy",
    "jp": "japan",
    "ke": "kenya",
    "kr": "south korea",
    "lt": "lithuania",
    "lu": "luxembourg",
    "lv": "latvia",
    "ma": "morocco",
    "mx": "mexico",
    "my": "malaysia",
    "ng": "nigeria",
    "nl": "netherlands",
    "no": "norway",
    "nz": "new zealand",
    "pe": "peru",
    "ph": "philippines",
    "pk": "pakistan",
    "pl": "poland",
    "pt": "portugal",
    "ro": "romania",
    "rs": "serbia",
    "ru": "russia",
    "sa": "saudi arabia",
    "se": "sweden",
    "sg": "singapore",
    "si": "slovenia",
    "sk": "slovakia",
    "th": "thailand",
    "tr": "turkey",
    "tw": "taiwan",
    "ua": "ukraine",
    "us": "united states",
    "vn": "vietnam",
    "za": "south africa",
}
"""Those that are asked for most; a name may always be given as it is."""


def country_of(text: str) -> str | None:
    """The vendor's name of a country that is named by its code or in words."""
    word = text.strip().lower()
    return NAMES.get(word) if len(word) == 2 else word
