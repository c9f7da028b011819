// The weights of the token estimate: data only. Fitted by least squares to the o200k_base counts of prose in 70 languages, code, JSON
// and encoded bytes. Prose in languages other than English was fitted 5 % high, because a low estimate overflows a context window.
//
// Characters are listed in strings, in which "–" stands for a range. A Latin weight is one digit: 0 to 9, A to Z, a to z. Each digit
// is worth four hundredths of a token more than the one before it.

/** The kinds of characters in Latin text. A character that is listed twice belongs to the later kind. */
export const latinKinds: readonly string[] = [
  ..."abcdefghijklmnopqrstuvwxyz",
  "A–Z",
  "0–9",
  " ",
  "\t\n\r",
  "\"'`",
  "\0–\x08\x0b\x0c\x0e–\x1f!#–&(–/:–@[–_{–\x7f",
  "éèêëàâçîïôùûœáíóúñãõäöüßÉÈÊËÀÂÇÎÏÔÙÛŒÁÍÓÚÑÃÕÄÖÜ",
  "åæøðþÅÆØÐÞ",
  "đơưĐƠƯ\u1ea0–\u1eff",
  "\u0300–\u036f",
];

/** The weight of a Latin character by its own kind (across) and the kind before it (down). Unlisted Latin characters are of the last kind. */
export const latinWeights: readonly string[] = [
  "N50040592D721357R17101E55E04ADEKF8OdF", // after a
  "1BA60474K0211A2549D006050826B1OHOLDKN", // after b
  "031505558500B30457958555F68203EM9KEKK", // after c
  "40904288634707084H839DC885A3038L9NHKM", // after d
  "7000E5FIAFF50293005898010F302FBKFGKME", // after e
  "07164673059D5C155070046345892CGHHVKKJ", // after f
  "K56F002668D580266C850755G17B25HTBPLKN", // after g
  "60376445367C90067GC0GF35F4D107BMEO2KN", // after h
  "900970C9L7PB100C5145I85D9CB7H6LeKJ9QC", // after i
  "84473556150843055A3C057646DA40FEIMKKM", // after j
  "673AD430682D30T55H8HE455559B06PEOMKKS", // after k
  "905600O20E84234D047760A5060C0HMAIQFKS", // after l
  "B67I17B576707000571CF55445CA10FKPPCKP", // after m
  "2704700A70C00E6B630006A4AD4700JIGQKKL", // after n
  "K83150K90009B080B06066072GGB25VOJKIRI", // after o
  "95AD283015005502502382602588039PJSKKG", // after p
  "I4654455E45A58G5556A066455A961GQMKKKR", // after q
  "0H924007030N00032800A955148D03SJDPFKF", // after r
  "5A243H464IUA6470BA014BB4576E0DBJLOIKD", // after s
  "9200368007B6E95057E96L690L9415LFFRFKY", // after t
  "002G02B90A2014D06090O527023C05CTELIQH", // after u
  "560406869460599558BA8505E69IB4FZEJFKH", // after v
  "6458357425675003498525B4565902KGMKKKR", // after w
  "7706C564F56656945371555695BO00KJLKNKM", // after x
  "3B6E534692D89CD341M696474477009FMLJMI", // after y
  "D81A05F3G5C88F7754790D651E7B72EFLKKKP", // after z
  "64AJ5I861BKEE141G5D776HBGF0y9qIbC7109", // after an upper-case letter
  "tvsmqwzxzwxzdtznxyyzyuxxzxs0HscVIIIII", // after a digit
  "DA5ADE9DJGHJ9GHHKAAD8DCQ6GDR0HTaNRESg", // after a space
  "1876587H0406C6301113324000VkG9lWggfgk", // after a line break or tab
  "3950BA0900050H184D90007271Ch400A64444", // after a quotation mark
  "6A55D02740G01EB0J813200GABDH0272bNPNW", // after another mark of ASCII
  "7F5M8JCICHPCG10KHFGAL9LIEGr70gGy004MB", // after é
  "8IIJGIKHFIJOIKIIGWLIGIGGLIp73gFz00444", // after å
  "DG2GHGGG0GGGF0IDGGG15GGGGGo70fFz040F0", // after ạ
  "KGTGGGGGQGGGJXKKGGGMLGGGJGo7HhFz44444", // after a combining accent
  "RIBH3GRLPKE5G0QQNFUFILJGFBi78kFz72420", // after another Latin letter
];

/** The weights of a script that is not Latin. */
export interface ScriptWeights {
  readonly characters: string;
  /** Hundredths of a token for a character that follows another script, such as the first letter of a word. */
  readonly first: number;
  /** Hundredths of a token for any other character. */
  readonly next: number;
  /** Letters that are typical of one language, with their weights within a word. */
  readonly letters?: Readonly<Record<string, number>>;
}

/** Scripts other than Latin. */
export const scripts: readonly ScriptWeights[] = [
  // Greek
  { characters: "\u0370–\u03ff\u1f00–\u1fff", first: 103, next: 30 },
  // Cyrillic
  {
    characters: "\u0400–\u052f",
    first: 110,
    next: 100,
    letters: {
      бвгдежзлмнопстухшщыьюяәқңұ: 4,
      ий: 24,
      џцґ: 32,
      р: 40,
      акѕғһ: 48,
      ф: 56,
      ч: 68,
      ќ: 76,
      ў: 84,
      љүёөѓ: 104,
      ђњэі: 146,
      ћ: 168,
      ъ: 204,
      ї: 236,
      єј: 244,
    },
  },
  // Armenian, Hebrew
  { characters: "\u0530–\u058f", first: 110, next: 26 },
  { characters: "\u0590–\u05ff", first: 51, next: 50 },
  // Arabic; the letters are of Persian, Urdu and Uyghur
  {
    characters: "\u0600–\u06ff\u0750–\u077f\ufb50–\ufdff\ufe70–\ufeff",
    first: 74,
    next: 28,
    letters: { پچژگکی: 37, ےٹڈڑںہھۓ: 50, ۆۈۋېەۇ: 178 },
  },
  // Devanagari; the letter is of Marathi
  { characters: "\u0900–\u097f", first: 30, next: 43, letters: { ळ: 155 } },
  // Bengali, Gurmukhi, Gujarati, Tamil, Telugu, Kannada, Malayalam, Sinhala
  { characters: "\u0980–\u09ff", first: 30, next: 47 },
  { characters: "\u0a00–\u0a7f", first: 30, next: 80 },
  { characters: "\u0a80–\u0aff", first: 78, next: 34 },
  { characters: "\u0b80–\u0bff", first: 65, next: 36 },
  { characters: "\u0c00–\u0c7f", first: 30, next: 52 },
  { characters: "\u0c80–\u0cff", first: 40, next: 46 },
  { characters: "\u0d00–\u0d7f", first: 110, next: 31 },
  { characters: "\u0d80–\u0dff", first: 66, next: 68 },
  // Thai, Lao, Tibetan, Burmese, Georgian, Ethiopic, Khmer
  { characters: "\u0e00–\u0e7f", first: 97, next: 41 },
  { characters: "\u0e80–\u0eff", first: 45, next: 205 },
  { characters: "\u0f00–\u0fff", first: 39, next: 163 },
  { characters: "\u1000–\u109f", first: 16, next: 61 },
  { characters: "\u10a0–\u10ff", first: 110, next: 23 },
  { characters: "\u1200–\u139f", first: 292, next: 212 },
  { characters: "\u1780–\u17ff", first: 79, next: 65 },
  // General punctuation and symbols, punctuation of East Asia
  { characters: "\u2000–\u2bff\u2e00–\u2e7f", first: 75, next: 69 },
  { characters: "\u3000–\u303f\uff00–\uffef", first: 22, next: 60 },
  // Kana, Han, Hangul
  { characters: "\u3040–\u30ff", first: 98, next: 62 },
  { characters: "\u2e80–\u2fff\u3400–\u9fff\uf900–\ufaff", first: 135, next: 87 },
  { characters: "\uac00–\ud7af\u1100–\u11ff\u3130–\u318f", first: 110, next: 63 },
  // Surrogates, such as those of emoji, and variation selectors
  { characters: "\ud800–\udfff\ufe00–\ufe0f", first: 168, next: 40 },
  // Syriac, Thaana, N'Ko
  { characters: "\u0700–\u074f\u0780–\u07ff", first: 241, next: 225 },
];

/** Any other script: nearly every byte of a character is a token. */
export const rareScript: ScriptWeights = { characters: "", first: 300, next: 300 };
