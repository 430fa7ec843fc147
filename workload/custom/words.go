package custom

import "strings"

// What texts are made of. All of it is ASCII.
var (
	firstNames = strings.Fields(`
Ada Alan Alice Amina Ana Anton Arthur Aylin Ben Birgit Carla Carlos Chen Clara Daniel David Diego Edith Elena Elif Emil Emma
Fatima Felix Finn Frida George Grace Hana Hans Hiro Ida Ines Ivan Jack Jana Jean Jonas Jose Judith Karim Kenji Lara Leila Leo
Lina Lucas Luis Maria Marta Maya Mei Mohamed Nadia Nils Nina Noah Olga Omar Oscar Paula Pedro Priya Ravi Rosa Samir Sara Sofia
Tariq Thomas Vera Victor Wei Yuki Yusuf Zoe`)
	lastNames = strings.Fields(`
Adams Ahmed Almeida Andersen Bauer Becker Berg Bianchi Brown Carter Chen Cohen Costa Cruz Dahl Davies Demir Diaz Dubois Evans
Fischer Fontaine Garcia Goldberg Gomez Green Gupta Haas Hansen Hill Hoffmann Horvat Ibrahim Ito Ivanov Jansen Johnson Jones
Kaya Keller Khan Kim Klein Kowalski Kumar Larsen Lee Lehmann Lopez Martin Mendes Meyer Miller Moreau Mori Murphy Nguyen Novak
Olsen Park Patel Pereira Petrov Reyes Ricci Romero Rossi Sato Schmidt Silva Singh Smith Sokolov Suzuki Tanaka Taylor Torres
Vogel Walker Wang Weber White Wilson Wright Yamada Yilmaz Young Zhang Zimmermann`)
	words = strings.Fields(`
able about above acid across address after again against agent air all almost along already also always among amount angle
answer apple area arm around arrive art ask autumn away baby back bag balance ball band bank base basket bath beach bean bear
beauty become bed before begin behind bell below best better between bicycle big bird bit black blood blow blue board boat body
bone book border bottle bottom box boy branch brass bread break breath brick bridge bright bring broad brother brown brush
bucket build bulb burn bus business butter button cake call camera canvas card care carriage cart case cat cause certain chain
chalk chance change cheap cheese chest chief child church circle city clean clear clock cloth cloud coal coat cold collar color
comb come common complete condition control cook copper copy cork cotton cough country course cover crack credit cup current
curve damage danger dark daughter day dear debt decision deep degree design desire detail development different direction
distance dog door doubt down drain drawer dress drink drive drop dry dust ear early earth east edge education effect egg end
engine enough equal error even event ever every example exchange expert eye face fact fall family far farm father field fight
fire first fish flag flame flat flight floor flower fly fold food foot force fork form forward free frequent friend front fruit`)
)
